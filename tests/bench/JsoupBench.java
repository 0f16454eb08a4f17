// SPDX-License-Identifier: GPL-3.0-or-later
//
// usage: java -cp jsoup.jar JsoupBench.java SELECTORS MILLISECONDS PAGE...
//
// CPU time of jsoup on each page, as one JSON line a page: microseconds of the whole process (its compiler and garbage
// collector, too) for one page. "parse" makes the tree, "rule" makes it, runs the selectors of the file (a line each) and
// takes the text of what they find. Every stage is warmed up on all pages first.
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.select.Evaluator;
import org.jsoup.select.QueryParser;

public class JsoupBench {
	static final com.sun.management.OperatingSystemMXBean OS =
		(com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean();
	static final double WARM_UP_US = 25000; // of a page and stage, eight times
	static long sink;

	static void once(String html, String url, List<Evaluator> rule) {
		Document doc = Jsoup.parse(html, url);
		sink += doc.childNodeSize();
		for (Evaluator e : rule)
			for (Element found : doc.select(e))
				sink += found.text().length();
	}

	static double measure(String html, String url, List<Evaluator> rule, double limitUs) {
		int rounds = 0;
		long start = OS.getProcessCpuTime();
		double spent = 0;
		while (spent < limitUs) {
			once(html, url, rule);
			rounds++;
			spent = (OS.getProcessCpuTime() - start) / 1e3;
		}
		return spent / rounds;
	}

	public static void main(String[] args) throws Exception {
		List<Evaluator> rule = new ArrayList<>();
		for (String line : Files.readAllLines(Path.of(args[0])))
			rule.add(QueryParser.parse(line));
		double limitUs = Double.parseDouble(args[1]) * 1000;
		List<String> pages = new ArrayList<>();
		for (int i = 2; i < args.length; i++)
			pages.add(new String(Files.readAllBytes(Path.of(args[i])), StandardCharsets.UTF_8));
		for (int round = 0; round < 8; round++)
			for (String html : pages) {
				measure(html, "http://bench.example/", List.of(), WARM_UP_US);
				measure(html, "http://bench.example/", rule, WARM_UP_US);
			}
		for (int i = 0; i < pages.size(); i++) {
			double parse = measure(pages.get(i), "http://bench.example/", List.of(), limitUs);
			double all = measure(pages.get(i), "http://bench.example/", rule, limitUs);
			System.out.printf("{\"page\": \"%s\", \"parse_us\": %.1f, \"rule_us\": %.1f}%n",
				Path.of(args[i + 2]).getFileName(), parse, all);
		}
		if (sink == 42)
			System.err.println(sink);
	}
}
