package io.holdfast.docs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.LinkTree;
import com.sun.source.doctree.LiteralTree;
import com.sun.source.doctree.StartElementTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;

/**
 * Reads the attributes of an annotation from its source.
 */
final class Attributes {

	private Attributes() {
	}

	/**
	 * Returns the attributes in the order of their declaration.
	 * @param source the file that declares the annotation
	 */
	static List<Attribute> of(Path source) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			JavacTask task = (JavacTask) compiler.getTask(null, files, null, null, null,
					files.getJavaFileObjects(source));
			DocTrees docs = DocTrees.instance(task);
			List<Attribute> attributes = new ArrayList<>();
			for (CompilationUnitTree unit : task.parse()) {
				for (Tree member : ((ClassTree) unit.getTypeDecls().get(0)).getMembers()) {
					MethodTree method = (MethodTree) member;
					attributes.add(new Attribute(method.getName().toString(), method.getReturnType().toString(),
							String.valueOf(method.getDefaultValue()),
							firstParagraph(docs.getDocCommentTree(TreePath.getPath(unit, method)).getFullBody())));
				}
			}
			return attributes;
		}
	}

	private static String firstParagraph(List<? extends DocTree> body) {
		StringBuilder text = new StringBuilder();
		for (DocTree part : body) {
			if (part instanceof StartElementTree) {
				break;
			}
			text.append(markdown(part));
		}
		return text.toString().strip().replaceAll("\\s+", " ");
	}

	private static String markdown(DocTree part) {
		if (part instanceof LiteralTree literal) {
			return "`" + literal.getBody() + "`";
		}
		if (part instanceof LinkTree link) {
			return "`" + link.getReference().getSignature().replaceFirst("^#", "").replace('#', '.') + "`";
		}
		return part.toString();
	}

	/**
	 * An attribute.
	 *
	 * @param name the name
	 * @param type the type, as in the source
	 * @param defaultValue the default, as in the source
	 * @param meaning the first paragraph of its Javadoc
	 */
	record Attribute(String name, String type, String defaultValue, String meaning) {
	}

}
