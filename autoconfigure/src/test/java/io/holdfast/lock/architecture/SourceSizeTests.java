package io.holdfast.lock.architecture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limits the length of source files, of methods in main code, and of the names of tests.
 */
class SourceSizeTests {

	private static final int LONGEST_FILE = 300;

	private static final int LONGEST_TEST_FILE = 400;

	private static final int LONGEST_METHOD = 30;

	private static final Pattern LONG_TEST_NAME = Pattern.compile("\\bvoid (\\w{61,})\\(");

	@Test
	void filesAreShort() {
		assertThat(longerThan(LONGEST_FILE, Sources.files())).isEmpty();
	}

	@Test
	void testFilesAreShort() {
		assertThat(Sources.tests()).as("files seen").hasSizeGreaterThan(100);
		assertThat(longerThan(LONGEST_TEST_FILE, Sources.tests())).isEmpty();
	}

	@Test
	void testNamesAreShort() {
		assertThat(Sources.tests())
			.allSatisfy((file) -> assertThat(LONG_TEST_NAME.matcher(Sources.text(file)).results())
				.extracting((name) -> name.group(1))
				.as("names of more than 60 characters in %s: shorten them, and state the fact in @DisplayName", file)
				.isEmpty());
	}

	private static List<String> longerThan(int limit, List<Path> files) {
		List<String> tooLong = new ArrayList<>();
		for (Path file : files) {
			long lines = Sources.text(file).lines().count();
			if (lines > limit) {
				tooLong.add("%s has %d lines and may have %d: give part of its work a type of its own".formatted(file,
						lines, limit));
			}
		}
		return tooLong;
	}

	@Test
	void methodsAreShort() throws IOException {
		MethodLengths lengths = new MethodLengths();
		assertThat(lengths.measure(Sources.files())).as("methods seen").isGreaterThan(100);
		assertThat(lengths.tooLong).isEmpty();
	}

	/**
	 * Measures methods with the compiler's own parser. The length of a method is that of
	 * its body, including both braces.
	 */
	private static final class MethodLengths extends TreeScanner<@Nullable Void, CompilationUnitTree> {

		private final List<String> tooLong = new ArrayList<>();

		private @Nullable SourcePositions positions;

		private int seen;

		int measure(List<Path> files) throws IOException {
			JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
			try (StandardJavaFileManager fileManager = compiler.getStandardFileManager(null, null, null)) {
				JavacTask task = (JavacTask) compiler.getTask(null, fileManager, null, null, null,
						fileManager.getJavaFileObjectsFromPaths(files));
				this.positions = Trees.instance(task).getSourcePositions();
				for (CompilationUnitTree unit : task.parse()) {
					scan(unit, unit);
				}
			}
			return this.seen;
		}

		@Override
		public @Nullable Void visitMethod(MethodTree method, CompilationUnitTree unit) {
			if (method.getBody() != null) {
				this.seen++;
				long lines = lines(method, unit);
				if (lines > LONGEST_METHOD) {
					this.tooLong.add("%s: %s has %d lines and may have %d: give a step of it a name".formatted(
							Path.of(unit.getSourceFile().toUri()).getFileName(), method.getName(), lines,
							LONGEST_METHOD));
				}
			}
			return super.visitMethod(method, unit);
		}

		private long lines(MethodTree method, CompilationUnitTree unit) {
			LineMap map = unit.getLineMap();
			return map.getLineNumber(this.positions.getEndPosition(unit, method.getBody()))
					- map.getLineNumber(this.positions.getStartPosition(unit, method.getBody())) + 1;
		}

	}

}
