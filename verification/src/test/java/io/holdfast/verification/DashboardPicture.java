package io.holdfast.verification;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.holdfast.lock.test.server.PrometheusServer;

/**
 * Draws the panels of a Grafana dashboard as an SVG, from its own expressions.
 */
final class DashboardPicture {

	private static final JsonMapper JSON = new JsonMapper();

	private static final Pattern LABEL = Pattern.compile("\\{\\{(\\w+)}}");

	private static final List<String> COLORS = List.of("#3f7fd9", "#e0752d", "#3a9e5f", "#b5485d", "#8a63c8",
			"#8a8a33");

	private static final int COLUMN = 40;

	private static final int ROW = 26;

	private static final int GAP = 8;

	private final PrometheusServer prometheus;

	private final int seconds;

	private final StringBuilder svg = new StringBuilder();

	/**
	 * Creates a picture.
	 * @param prometheus evaluates the expressions
	 * @param seconds the length of the recent past to draw
	 */
	DashboardPicture(PrometheusServer prometheus, int seconds) {
		this.prometheus = prometheus;
		this.seconds = seconds;
	}

	/** Returns an expression as the dashboard evaluates it if nothing is selected. */
	static String forAll(String expression, String interval) {
		return expression.replaceAll("\"\\$(job|name|backend)\"", "\".*\"")
			.replace("$__rate_interval", interval)
			.replace("$__range", "1m");
	}

	String draw(JsonNode dashboard) throws IOException {
		int height = 0;
		for (JsonNode panel : dashboard.path("panels")) {
			JsonNode place = panel.path("gridPos");
			height = Math.max(height, place.path("y").intValue() + place.path("h").intValue());
			panel(panel, place.path("x").intValue() * COLUMN, place.path("y").intValue() * ROW,
					place.path("w").intValue() * COLUMN - GAP, place.path("h").intValue() * ROW - GAP);
		}
		return """
				<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="11">
				<title>%s</title>
				<rect width="100%%" height="100%%" fill="#f4f5f5"/>
				%s</svg>
				"""
			.formatted(24 * COLUMN, height * ROW, dashboard.path("title").stringValue(), this.svg);
	}

	private void panel(JsonNode panel, int x, int y, int width, int height) throws IOException {
		add("<g transform=\"translate(%d %d)\"><rect width=\"%d\" height=\"%d\" rx=\"3\" fill=\"#fff\" stroke=\"#d8d9da\"/>",
				x + GAP / 2, y + GAP / 2, width, height);
		add("<text x=\"8\" y=\"16\" font-weight=\"600\" fill=\"#333\">%s</text>", panel.path("title").stringValue());
		List<Line> lines = lines(panel);
		double scale = panel.at("/fieldConfig/defaults/unit").stringValue().equals("percentunit") ? 100 : 1;
		if (panel.path("type").stringValue().equals("stat")) {
			double last = lines.isEmpty() ? 0 : lines.get(0).last();
			boolean bad = panel.at("/fieldConfig/defaults/thresholds/steps").size() > 1 && last >= 1;
			add("<text x=\"%d\" y=\"%d\" font-size=\"34\" text-anchor=\"middle\" fill=\"%s\">%.0f</text>", width / 2,
					height - 22, bad ? "#c4162a" : "#37872d", last);
		}
		else {
			chart(lines, scale, width, height);
		}
		this.svg.append("</g>\n");
	}

	private void chart(List<Line> lines, double scale, int width, int height) {
		double greatest = lines.stream().mapToDouble(Line::greatest).max().orElse(0) * scale;
		double top = (greatest > 0) ? greatest * 1.1 : 1;
		int bottom = height - 24;
		for (int i = 0; i <= 2; i++) {
			int level = bottom - i * (bottom - 28) / 2;
			add("<path d=\"M44 %d H%d\" stroke=\"#e8e8e8\"/><text x=\"40\" y=\"%d\" text-anchor=\"end\" fill=\"#777\">%s</text>",
					level, width - 8, level + 4, number(top * i / 2) + ((scale > 1) ? " %" : ""));
		}
		int legend = 44;
		for (int i = 0; i < lines.size(); i++) {
			Line line = lines.get(i);
			String color = COLORS.get(i % COLORS.size());
			add("<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"%s\"/>", color,
					line.path(this.seconds, scale / top, width - 52, bottom - 28, bottom));
			add("<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>", legend, height - 8, color, line.name());
			legend += 14 + 6 * line.name().length();
		}
	}

	private static String number(double value) {
		return (value >= 10) ? "%.0f".formatted(value) : String.format(Locale.ROOT, "%.2g", value);
	}

	private List<Line> lines(JsonNode panel) throws IOException {
		List<Line> lines = new ArrayList<>();
		for (JsonNode target : panel.path("targets")) {
			String answer = this.prometheus.queryRange(forAll(target.path("expr").stringValue(), "5s"), this.seconds);
			for (JsonNode series : JSON.readTree(answer).at("/data/result")) {
				lines.add(new Line(name(target.path("legendFormat").stringValue(), series.path("metric")),
						series.path("values")));
			}
		}
		return lines.stream().filter((line) -> line.greatest() > 0 || lines.size() == 1).toList();
	}

	private static String name(String format, JsonNode labels) {
		return LABEL.matcher(format)
			.replaceAll((label) -> Matcher.quoteReplacement(labels.path(label.group(1)).asString("")));
	}

	private void add(String format, Object... values) {
		this.svg.append(String.format(Locale.ROOT, format, values)).append('\n');
	}

	/**
	 * A series of a panel.
	 *
	 * @param name its legend
	 * @param values pairs of time and value
	 */
	private record Line(String name, JsonNode values) {

		double last() {
			return value(this.values.get(this.values.size() - 1));
		}

		double greatest() {
			return this.values.valueStream().mapToDouble(Line::value).filter(Double::isFinite).max().orElse(0);
		}

		String path(int seconds, double scale, int width, int height, int bottom) {
			StringBuilder path = new StringBuilder();
			double end = this.values.get(this.values.size() - 1).get(0).doubleValue();
			boolean drawing = false;
			for (JsonNode point : this.values) {
				double value = value(point);
				if (Double.isFinite(value)) {
					double x = 44 + width * (1 - (end - point.get(0).doubleValue()) / seconds);
					path.append(String.format(Locale.ROOT, "%s%.1f %.1f", drawing ? "L" : "M", x,
							bottom - height * value * scale));
				}
				drawing = Double.isFinite(value);
			}
			return path.toString();
		}

		private static double value(JsonNode point) {
			return Double.parseDouble(point.get(1).stringValue().replace("+Inf", "Infinity"));
		}

	}

}
