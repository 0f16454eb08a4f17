/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * month_names.h - names of the months as dates on scholarly pages have them, for date.c alone.
 *
 * Lower case, Latin and Greek letters without diacritics (date.c folds what it reads the same way).
 * Genitives stand beside nominatives. Left out on purpose: Croatian, whose "listopad" is October
 * while it is November in Polish and Czech, and abbreviations that are common words elsewhere
 * ("sub", "ara", "pro"). A line a month, so that a language is easy to add.
 */
#pragma once

/* Each entry is a list of words, divided by one space, with a space at both ends. */
static const char *const month_names[12] = {
	/* Western Europe · Nordic · West Slavic · Turkish, Hungarian, Romanian, Finnish, Estonian ·
	   Cyrillic · Greek · Arabic */
	" january jan janvier janv januar jaenner janner jan enero ene janeiro gennaio januari gener "
	"janar tammikuu tammikuuta "
	"styczen stycznia sty leden ledna ocak oca ianuarie jaanuar sausio "
	"январь января янв січень січня януари јануар ιανουαριος ιανουαριου ιαν يناير ",
	" february feb fevrier fevr fev februar feber febrero fevereiro febbraio febbr februari "
	"febrer pebruari helmikuu helmikuuta luty lutego lut unor unora subat februarie veebruar "
	"vasario февраль февраля фев февр лютий лютого февруари фебруар φεβρουαριος φεβρουαριου φεβ "
	"فبراير ",
	" march mar mars maerz marz mrz marzo marco maart mrt maret mac marc maaliskuu maaliskuuta "
	"marzec marca marec brezen brezna mart marcius martie marts kovo март марта мар березень "
	"березня μαρτιος μαρτιου μαρ مارس ",
	" april apr avril avr abril abr aprile apr huhtikuu huhtikuuta kwiecien kwietnia kwi duben "
	"dubna nisan nis aprilis aprilie aprill balandzio апрель апреля апр квітень квітня април "
	"απριλιος απριλιου απρ أبريل ابريل ",
	" may mai mayo maio maggio mag mei maj maja maig toukokuu toukokuuta kveten kvetna kve mayis "
	"majus geguzes май мая травень травня мај μαιος μαιου μαι مايو ",
	" june jun juin juni junio junho giugno giu juny kesakuu kesakuuta czerwiec czerwca cze "
	"cerven cervna cvn haziran haz junius iunie juuni jun juna birzelio июнь июня июн червень "
	"червня юни јун ιουνιος ιουνιου ιουν يونيو ",
	" july jul juillet juil juli julio julho luglio lug julai juliol heinakuu heinakuuta lipiec "
	"lipca lip cervenec cervence cvc temmuz julius iulie juuli liepos июль июля июл липень "
	"липня юли јул ιουλιος ιουλιου ιουλ يوليو ",
	" august aug aout agosto ago augusti augustus agustus agust ogos agost elokuu elokuuta "
	"sierpien sierpnia sie srpen srpna srp agustos agu augusztus rugpjucio август августа авг "
	"серпень серпня αυγουστος αυγουστου αυγ أغسطس اغسطس ",
	" september sep sept septembre septiembre setiembre setembro set settembre sett syyskuu "
	"syyskuuta wrzesien wrzesnia wrz zari eylul eyl szeptember septembrie rugsejo сентябрь "
	"сентября сен сент вересень вересня септември септембар σεπτεμβριος σεπτεμβριου σεπ "
	"سبتمبر ",
	" october oct octobre oktober okt octubre outubro out ottobre ott lokakuu lokakuuta "
	"pazdziernik pazdziernika paz rijen rijna ekim eki octombrie oktoober spalio октябрь октября "
	"окт жовтень жовтня октомври октобар οκτωβριος οκτωβριου οκτ أكتوبر اكتوبر ",
	" november nov novembre noviembre novembro nopember marraskuu marraskuuta listopad listopada "
	"listopadu lis kasim kas noiembrie lapkricio ноябрь ноября ноя нояб листопад листопада "
	"ноември новембар νοεμβριος νοεμβριου νοε نوفمبر ",
	" december dec decembre dezember dez diciembre dic dezembro dicembre desember des disember "
	"desembre joulukuu joulukuuta grudzien grudnia gru prosinec prosince aralik decembrie "
	"detsember gruodzio декабрь декабря дек грудень грудня декември децембар δεκεμβριος "
	"δεκεμβριου δεκ ديسمبر ",
};
