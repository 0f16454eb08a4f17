/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What jsoup itself finds: the oracle of tests/scenario/test_jsoup_oracle.py.
 *
 * Standard input holds cases, each four strings: kind ("html" or "xml"), base URL (may be empty),
 * page, selector. Each string is its length in bytes in decimal, a line feed, its bytes (UTF-8).
 * Output is, for each case, the number of matches as "count\n" (or "-1\n" and one string, the
 * error), then for each match four strings: index (place among all elements, the document being 0;
 * -1 for what :matchText made), tag as written, text, own text.
 */
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.IdentityHashMap;
import java.util.Map;

import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.nodes.PseudoTextElement;
import org.jsoup.parser.Parser;
import org.jsoup.select.Elements;

public class JsoupSelect {
	private static String read(InputStream in) throws IOException {
		int length = 0;
		int c = in.read();
		if (c < 0)
			return null;
		for (; c != '\n'; c = in.read())
			length = length * 10 + c - '0';
		return new String(in.readNBytes(length), StandardCharsets.UTF_8);
	}

	private static void write(OutputStream out, String s) throws IOException {
		byte[] bytes = s.getBytes(StandardCharsets.UTF_8);
		out.write((bytes.length + "\n").getBytes(StandardCharsets.US_ASCII));
		out.write(bytes);
	}

	private static void answer(String kind, String base, String page, String selector, OutputStream out)
			throws IOException {
		Document doc = Jsoup.parse(page, base, kind.equals("xml") ? Parser.xmlParser() : Parser.htmlParser());
		Map<Element, Integer> places = new IdentityHashMap<>();
		for (Element e : doc.getAllElements())
			places.put(e, places.size());
		Elements found;
		try {
			found = doc.select(selector);
		} catch (RuntimeException e) {
			out.write("-1\n".getBytes(StandardCharsets.US_ASCII));
			write(out, String.valueOf(e.getMessage()));
			return;
		}
		out.write((found.size() + "\n").getBytes(StandardCharsets.US_ASCII));
		for (Element e : found) {
			write(out, e instanceof PseudoTextElement ? "-1" : places.get(e).toString());
			write(out, e.tagName());
			write(out, e.text());
			write(out, e.ownText());
		}
	}

	public static void main(String[] args) throws IOException {
		InputStream in = new BufferedInputStream(System.in);
		OutputStream out = new BufferedOutputStream(System.out);
		for (String kind = read(in); kind != null; kind = read(in)) {
			String base = read(in);
			String page = read(in);
			answer(kind, base, page, read(in), out);
		}
		out.flush();
	}
}
