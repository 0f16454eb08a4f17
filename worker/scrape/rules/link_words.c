/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lists are searched as substrings of the folded form, so an entry says itself by its spaces
 * whether it is a word, the beginning of one, or (in scripts without spaces) any part of a text.
 * Letters without a decomposition (Polish l with stroke, Turkish dotless i) stay as they are.
 */
#include "worker/scrape/rules/link_words.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/unicode.h"

/* Code points from here on are Chinese, Japanese and Korean, or of no script with cases. */
#define FIRST_EAST_ASIAN 0x2e80
#define FIRST_MARK 0x300
#define LAST_MARK 0x36f
#define MAX_WORD_BYTES 200

/* Of names and headings. */
static const char *const others[] = {
	/* English */
	" guide ", " guides ", " guideline", " instruction", " for author", " to author",
	" for contributors ", " for reviewers ", " author information ", " template", " checklist",
	" check list ", " stylesheet ", " style sheet ", " policy ", " policies ", " privacy ",
	" terms of ", " supplement", " suppl ", " supp ", " supporting info", " supporting mat",
	" supporting file", " additional file", " additional mat", " extra material",
	" press release", " call for papers ", " peer review file", " review history ",
	" reporting summary ", " order form", " advertis", " editorial board ",
	" table of contents ", " curriculum vitae ", " errat", " corrigend", " retraction ",
	/* German */
	" anleitung", " hinweise ", " richtlinie", " autorenhinweis", " autorenrichtlinie",
	" merkblatt ", " leitfaden ", " inhaltsverzeichnis ", " zusatzmaterial", " erganzung",
	" formular", " vordruck", " lebenslauf ", " datenschutz",
	/* French */
	" consigne", " aux auteurs ", " pour les auteurs ", " sommaire ", " table des matieres ",
	" charte ", " formulaire", " mentions legales ",
	/* Spanish, Portuguese, Italian */
	" guia ", " guias ", " instruccion", " instruco", " istruzion", " directrices ",
	" diretrizes ", " normas ", " norme per ", " para autores ", " para los autores ",
	" aos autores ", " per gli autori ", " indice ", " suplement", " material complementa",
	" plantilla", " formulario", " hoja de vida ", " tabla de contenido", " politica",
	" convocatoria ",
	/* Dutch and the Scandinavian languages */
	" handleiding ", " richtlijn", " inhoudsopgave ", " voor auteurs ", " vejledning",
	" veiledning", " retningslinj", " riktlinj", " innehallsforteckning ",
	" indholdsfortegnelse ",
	/* Polish, Czech, Slovak, Hungarian, Romanian, Finnish, Turkish */
	" instrukcj", " wskazowk", " dla autorow ", " spis tresci ", " regulamin", " pokyny ",
	" pro autory ", " pre autorov ", " utmutato ", " tartalomjegyzek ", " ghid ",
	" instructiuni ", " cuprins ", " kirjoitusohje", " sisallysluettelo ", " kılavuz",
	" yazım kural", " icindekiler ",
	/* Indonesian, Vietnamese */
	" panduan ", " pedoman ", " petunjuk ", " daftar isi ", " huong dan ", " muc luc ",
	/* Russian, Ukrainian */
	" руководств", " инструкц", " правила ", " требовани", " для авторов ", " авторам ",
	" содержание ", " оглавление ", " дополнительн", " шаблон", " настанов", " вимоги ",
	" зміст ",
	/* Arabic, Chinese, Japanese, Korean */
	"دليل", "تعليمات", "须知", "須知", "指南", "指引", "目录", "目錄", "补充", "補充", "模板",
	"投稿", "征稿", "目次", "補足", "規程", "執筆要領", "ガイド", "テンプレート", "안내",
	"규정", "지침", "목차", "보충", "서식", "양식"};

/* Of names alone: a heading like these may stand over anything. */
static const char *const other_names[] = {
	/* English */
	" how to ", " submission ", " submit ", " manual ", " handbook ", " tutorial ", " faq ",
	" help ", " readme ", " terms ", " conditions ", " disclaimer ", " copyright ", " licence",
	" license", " licensing ", " agreement ", " consent ", " permission", " form ", " forms ",
	" declaration ", " disclosure", " conflict of interest ", " conflicts of interest ",
	" esm ", " moesm ", " mmc ", " annex ", " attachment ", " dataset ", " data set ",
	" questionnaire ", " fig ", " figure ", " figures ", " table ", " tables ",
	" graphical abstract ", " abstract ", " abstracts ", " highlights ", " cover ", " covers ",
	" coverpage ", " frontmatter ", " front matter ", " backmatter ", " back matter ",
	" title page ", " titlepage ", " masthead ", " imprint ", " contents ", " toc ", " index ",
	" full issue ", " whole issue ", " complete issue ", " entire issue ", " full volume ",
	" entire volume ", " whole volume ", " brochure", " flyer", " leaflet", " catalog",
	" press kit ", " media kit ", " price", " subscri", " newsletter", " annual report ",
	" poster ", " slide ", " slides ", " presentation ", " handout", " cv ", " resume ",
	" vita ", " vitae ", " biography ", " biographical ", " publication list ",
	" list of publications ", " program ", " programme ", " agenda ", " cfp ", " invitation ",
	" certificate ", " receipt ", " invoice ", " correction ", " referee", " reviewer",
	" review report ", " peer review ", " response to ", " decision letter ",
	" author response ", " citation ", " references ", " bibliography ", " thumbnail ",
	" preview ", " sample ", " look inside ", " first page ", " excerpt ", " statutes ",
	" bylaws ", " accessibility ", " sitemap ", " logo ", " letterhead ",
	" open access statement ",
	/* German */
	" inhalt ", " umschlag ", " titelblatt ", " titelseite ", " titelei ", " deckblatt ",
	" lizenz", " anlage ", " beilage ", " impressum ", " satzung ", " vertrag ",
	" nutzungsbedingung", " einverstandnis", " vorlage", " abbildung", " leseprobe ",
	" gesamtes heft ", " gesamte ausgabe ", " zusammenfassung ",
	/* French */
	" couverture ", " reglement ", " modele ", " depliant", " numero complet ",
	" page de titre ", " conditions generales ", " mode d emploi ", " affiche ",
	/* Spanish, Portuguese, Italian */
	" portada ", " contraportada ", " cubierta ", " licenci", " licenca", " licenza ",
	" aviso ", " sumario ", " sommario ", " numero completo ", " edicao completa ",
	" fascicolo completo ", " declaracion ", " declaracao ", " cesion de derechos ", " capa ",
	" contracapa ", " curriculo ", " modelo ", " expediente ", " termo de ", " edital ",
	" resumen ", " resumo ", " guida ", " copertina ", " modulo ", " frontespizio ",
	/* Dutch and the Scandinavian languages */
	" omslag ", " licentie", " voorwaarden ", " formulier", " sjabloon ", " innehall ",
	" licens ", " lisens ",
	/* Polish, Czech, Hungarian, Romanian, Finnish, Turkish */
	" okładk", " licencj", " zyciorys ", " formularz", " szablon", " cały numer ", " obsah ",
	" obalka ", " zivotopis ", " sablon", " borito ", " oneletrajz ", " coperta ", " anexa ",
	" licenta ", " kansi ", " ansioluettelo ", " lisenssi ", " kapak ", " lisans ",
	" ozgecmis ", " sozlesme", " kunye ",
	/* Indonesian */
	" sampul ", " lisensi ", " surat ", " pernyataan ", " riwayat hidup ",
	/* Russian, Ukrainian */
	" обложк", " титул", " лицензи", " резюме ", " договор", " положение ", " политик",
	" согласие ", " весь номер ", " полныи выпуск ", " обкладинк", " ліцензі",
	/* Arabic, Chinese, Japanese, Korean */
	"الغلاف", "الفهرس", "ترخيص", "封面", "封底", "许可", "許可", "版权", "版權", "协议", "協議",
	"简历", "簡歷", "范本", "表格", "政策", "声明", "聲明", "承诺", "说明", "說明", "手册",
	"整期", "表紙", "履歴書", "著作権", "手引", "案内", "様式", "同意書", "規定", "マニュアル",
	"표지", "이력서", "저작권",
	/* Appendices and attachments, in all of these: repositories head their files so. */
	" anhang ", " annexe", " anexo", " apendice", " appendice ", " allegat", " bijlage",
	" bilag ", " bilaga ", " vedlegg ", " załacznik", " priloh", " melleklet", " liite ",
	" liitteet ", " ekler ", " lampiran ", " phu luc ", " приложени", " додат", "附录", "附錄",
	"附件", "付録", "附録", "부록", " appendix ", " appendices ", "ملحق"};

/* Of headings alone: what stands below them are other works, each perhaps with its PDF. */
static const char *const other_headings[] = {
	/* English */
	" references ", " bibliograph", " literature cited ", " works cited ", " related ",
	" similar ", " recommended ", " recommendations ", " more from ", " more articles ",
	" other articles ", " latest ", " most read ", " most viewed ", " most cited ",
	" most downloaded ", " popular ", " recent ", " you may ", " also ", " in this issue ",
	" same issue ", " next article ", " previous article ", " cited by ", " citing ",
	/* German, Dutch and the Scandinavian languages */
	" literatur", " quellen ", " ahnlich", " verwandt", " weitere artikel ",
	" weitere beitrage ", " neueste ", " meistgelesen", " literatuur ", " gerelateerd",
	" litteratur", " relatert", " relaterad", " liknande ", " lignende ",
	/* French, Spanish, Portuguese, Italian */
	" similaires ", " connexes ", " autres articles ", " a lire ", " dans ce numero ",
	" bibliograf", " referencias ", " relacionad", " similares ", " semelhantes ",
	" otros articulos ", " outros artigos ", " tambien ", " tambem ", " mas leid", " mais lid",
	" ultimos ", " recientes ", " recentes ", " riferimenti ", " correlat", " altri articoli ",
	/* Polish, Turkish, Indonesian */
	" powiazan", " podobne ", " benzer ", " ilgili ", " kaynak", " terkait ", " serupa ",
	" daftar pustaka ", " referensi ",
	/* Russian, Ukrainian */
	" похожие ", " литератур", " другие статьи ", " также ", " схожі ", " літератур",
	/* Arabic, Chinese, Japanese, Korean */
	"المراجع", "ذات صلة", "相关", "相關", "参考文献", "參考文獻", "推荐", "推薦", "関連",
	"類似", "관련", "참고문헌"};

/* Of folders. A journal's numbered supplement is a folder of articles. */
static const char *const other_folders[] = {" suppl file", " supplementary ", " supp material ",
	" supporting information ", " guideline", " instruction", " for author", " template",
	" forms ", " policies ", " policy ", " marketing ", " advertis", " editorial board "};

/* Of places, where links lead to something else than the page's document. */
static const char *const other_places[] = {" nav ", " navbar ", " navigation ", " menu ",
	" menubar ", " footer ", " contentinfo ", " breadcrumb", " references ", " reference list ",
	" ref list ", " bibliography ", " related ", " recommend", " similar ", " cookie",
	" supplement", " suppl ", " comments ", " advert", " cited by "};

/* Words of links to the document. */
static const char *const pdf_words[] = {" pdf ", " epdf "};
static const char *const text_words[] = {" full ", " fulltext ", " article ", " paper ",
	" manuscript ", " preprint ", " text ", " volltext ", " artikel ", " aufsatz ", " texte ",
	" integral ", " texto ", " completo ", " articulo ", " artigo ", " testo ", " articolo ",
	" tekst ", " artykuł ", " текст ", " статья ", " статьи ", " статью ", " tam ", " metin ",
	" makale ", " teks ", " lengkap ", " 全文 ", " 本文 ", " 本文ダウンロード ",
	" 論文ダウンロード ", " 全文表示 ", " 全文阅读 ", " 全文浏览 ", " 阅读全文 ",
	" 원문다운로드 ", " 论文 ", " 論文 ", " 全文下载 ", " 下载全文 ", " 全文下載 ", " 원문 ",
	" 원문보기 "};
static const char *const download_words[] = {" download ", " view ", " open ", " get ", " read ",
	" herunterladen ", " offnen ", " anzeigen ", " telecharger ", " lire ", " consulter ",
	" descargar ", " ver ", " baixar ", " abrir ", " scarica ", " pobierz ", " скачать ",
	" загрузить ", " открыть ", " завантажити ", " indir ", " unduh ", " 下载 ", " 下載 ",
	" 查看 ", " ダウンロード ", " をダウンロード ", " を表示 ", " を開く ", " 表示 ", " 閲覧 ",
	" 阅读 ", " 浏览 ", " 在线阅读 ", " 다운받기 ", " 보기 ", " 다운로드 ", " lataa ",
	" stahnout ", " letoltes ", " ladda "};
/* That say nothing by themselves. */
static const char *const filler_words[] = {" the ", " this ", " a ", " as ", " in ", " of ", " to ",
	" for ", " version ", " file ", " document ", " format ", " print ", " printable ",
	" published ", " original ", " free ", " access ", " here ", " click ", " kb ", " mb ",
	" kib ", " mib ", " bytes ", " size ", " datei ", " als ", " der ", " den ", " dem ",
	" ganzer ", " le ", " l ", " la ", " au ", " en ", " fichier ", " el ", " archivo ", " o ",
	" em ", " il ", " w ", " pełny ", " полныи ", " в ", " формате ", " english ", " russian ",
	" german ", " french ", " spanish ", " eng ", " rus ", " ger ", " fr ", " es ", " de ",
	" browser ", " new ", " window ", " tab ", " viewer ", " reader ", " with ", " your ",
	" now ", " online ", " available ", " is ", " icon ", " button ", " and ", " und ", " et "};

/* --- folding --- */

struct fold {
	struct ing_buf *out;
	char word[MAX_WORD_BYTES]; /* as written */
	size_t bytes;
	int kind; /* of its characters; NONE: there is no word */
};

enum { NONE, LETTERS, DIGITS, EAST_ASIAN };

static void end_word(struct fold *f)
{
	if (f->kind == LETTERS)
		ing_unicode_letters(f->word, f->bytes, f->out);
	else if (f->kind != NONE)
		ing_unicode_lower(f->word, f->bytes, f->out);
	if (f->kind != NONE && f->out->len > 0 && f->out->data[f->out->len - 1] != ' ')
		ing_buf_add_char(f->out, ' ');
	f->kind = NONE;
	f->bytes = 0;
}

static int kind_of(uint32_t c)
{
	enum ing_char_class class = ing_char_class(c);
	if (class == ING_CHAR_NONE || class == ING_CHAR_SPACE)
		return NONE;
	if (class == ING_CHAR_DIGIT)
		return DIGITS;
	return c >= FIRST_EAST_ASIAN && class == ING_CHAR_LETTER ? EAST_ASIAN : LETTERS;
}

/* --- searching --- */

/* Whether the title has the words of an entry, too. */
static bool is_in_title(const char *entry, const char *title)
{
	return title[0] != '\0' && strstr(title, entry) != NULL;
}

static bool has_any(const char *folded, const char *const *list, size_t count, const char *title)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(folded, list[i]) != NULL && !is_in_title(list[i], title))
			return true;
	return false;
}

#define HAS_ANY(folded, list, title) has_any((folded), (list), ING_ARRAY_LEN(list), (title))

/* Whether the word at s, with its spaces, is one of a list. */
static bool is_one_of(const char *s, size_t bytes, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == bytes && memcmp(list[i], s, bytes) == 0)
			return true;
	return false;
}

#define IS_ONE_OF(s, bytes, list) is_one_of((s), (bytes), (list), ING_ARRAY_LEN(list))

/* -------------------------------------------------------------------------------------------- */

void ing_link_words_fold(const char *s, size_t bytes, struct ing_buf *out)
{
	struct fold f = {.out = out};
	bool lower = false;
	ing_buf_add_char(out, ' ');
	for (size_t i = 0; i < bytes;) {
		uint32_t c;
		size_t n = ing_utf8_decode(s + i, bytes - i, &c);
		bool mark = f.kind == LETTERS && c >= FIRST_MARK && c <= LAST_MARK;
		int kind = mark ? LETTERS : kind_of(c);
		bool upper = kind == LETTERS && ing_char_class(c) == ING_CHAR_UPPER;
		if (kind != f.kind || (upper && lower) || f.bytes + n > sizeof(f.word))
			end_word(&f);
		if (kind != NONE) {
			memcpy(f.word + f.bytes, s + i, n);
			f.bytes += n;
		}
		f.kind = kind;
		lower = kind == LETTERS && !upper && !mark;
		i += n;
	}
	end_word(&f);
}

bool ing_link_words_are_of_another(const char *folded, enum ing_link_words_of of, const char *title)
{
	switch (of) {
	case ING_LINK_WORDS_NAME:
		return HAS_ANY(folded, others, title) || HAS_ANY(folded, other_names, title);
	case ING_LINK_WORDS_HEADING:
		return HAS_ANY(folded, others, title) || HAS_ANY(folded, other_headings, title);
	case ING_LINK_WORDS_FOLDER:
		return HAS_ANY(folded, other_folders, title);
	case ING_LINK_WORDS_PLACE:
		return HAS_ANY(folded, other_places, "");
	}
	return false;
}

enum ing_link_label ing_link_words_label(const char *folded)
{
	bool pdf = false, text = false, download = false, more = false;
	for (const char *s = folded; s[0] == ' ' && s[1] != '\0';) {
		size_t bytes = strcspn(s + 1, " ") + 2;
		if (IS_ONE_OF(s, bytes, pdf_words))
			pdf = true;
		else if (IS_ONE_OF(s, bytes, text_words))
			text = true;
		else if (IS_ONE_OF(s, bytes, download_words))
			download = true;
		else if (!IS_ONE_OF(s, bytes, filler_words) &&
			 ing_char_class((unsigned char)s[1]) != ING_CHAR_DIGIT)
			more = true;
		s += bytes - 1;
	}
	if (more)
		return ING_LINK_LABEL_OTHER;
	if (pdf)
		return ING_LINK_LABEL_PDF;
	if (text)
		return ING_LINK_LABEL_TEXT;
	return download ? ING_LINK_LABEL_DOWNLOAD : ING_LINK_LABEL_OTHER;
}
