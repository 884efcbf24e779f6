package io.holdfast.lock.interceptor;

import java.lang.invoke.MethodHandles;

import org.springframework.asm.AnnotationVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

import io.holdfast.lock.DistributedLock;

/**
 * A class as Kotlin compiles it, if a function overrides a generic one and its parameter
 * is unboxed: {@code call(long)} for a {@code Long}, and {@code call-1a2b3c4(long)} for a
 * value class. A bridge {@code call(Object)}, without the annotations of the function,
 * calls it. Java cannot express this.
 */
final class KotlinClass {

	private final ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES | ClassWriter.COMPUTE_MAXS);

	private final String name;

	private final Class<?> base;

	private KotlinClass(String name, Class<?> base) {
		this.name = Type.getInternalName(KotlinClass.class) + name;
		this.base = base;
	}

	/**
	 * Defines a class.
	 * @param name the end of its name, which no other class has
	 * @param base the class that it extends, with the type argument {@code Long}
	 * @param function the name of the overriding method in byte code
	 * @param annotated whether that method has an annotation of its own
	 */
	@SuppressWarnings("unchecked")
	static <T> Class<? extends T> extending(String name, Class<T> base, String function, boolean annotated) {
		KotlinClass definition = new KotlinClass(name, base);
		return (Class<? extends T>) define(definition.code(function, annotated));
	}

	/**
	 * Defines an interface with a {@code call(long)}, for which Kotlin writes no bridge.
	 * @param name the end of its name, which no other class has
	 * @param base the generic interface that it extends, with the type argument
	 * {@code Long}
	 * @param annotated whether that method has an annotation of its own
	 */
	@SuppressWarnings("unchecked")
	static <T> Class<? extends T> narrowing(String name, Class<T> base, boolean annotated) {
		KotlinClass definition = new KotlinClass(name, Object.class);
		String baseName = Type.getInternalName(base);
		definition.writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC | Opcodes.ACC_INTERFACE | Opcodes.ACC_ABSTRACT,
				definition.name, "Ljava/lang/Object;L" + baseName + "<Ljava/lang/Long;>;", "java/lang/Object",
				new String[] { baseName });
		definition.markAsKotlin();
		MethodVisitor method = definition.writer.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, "call",
				"(J)Ljava/lang/String;", null, null);
		if (annotated) {
			annotate(method);
		}
		method.visitEnd();
		definition.writer.visitEnd();
		return (Class<? extends T>) define(definition.writer.toByteArray());
	}

	private static Class<?> define(byte[] code) {
		try {
			return MethodHandles.lookup().defineClass(code);
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Without metadata that show more than that Kotlin has compiled the class. */
	private void markAsKotlin() {
		AnnotationVisitor metadata = this.writer.visitAnnotation("Lkotlin/Metadata;", true);
		metadata.visit("k", 3);
		metadata.visitEnd();
	}

	private static void annotate(MethodVisitor method) {
		AnnotationVisitor annotation = method.visitAnnotation(Type.getDescriptor(DistributedLock.class), true);
		annotation.visit("name", "stock");
		annotation.visit("key", "#p0");
		annotation.visitEnd();
	}

	private byte[] code(String function, boolean annotated) {
		String superName = Type.getInternalName(this.base);
		this.writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC | Opcodes.ACC_SUPER, this.name,
				"L" + superName + "<Ljava/lang/Long;>;", superName, null);
		MethodVisitor constructor = begin(Opcodes.ACC_PUBLIC, "<init>", "()V");
		constructor.visitVarInsn(Opcodes.ALOAD, 0);
		constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, superName, "<init>", "()V", false);
		end(constructor, Opcodes.RETURN);
		MethodVisitor method = begin(Opcodes.ACC_PUBLIC, function, "(J)Ljava/lang/String;");
		if (annotated) {
			annotate(method);
		}
		method.visitMethodInsn(Opcodes.INVOKESTATIC, Type.getInternalName(LocalLocks.class), "held",
				"()Ljava/lang/String;", false);
		end(method, Opcodes.ARETURN);
		MethodVisitor bridge = begin(Opcodes.ACC_PUBLIC | Opcodes.ACC_BRIDGE | Opcodes.ACC_SYNTHETIC, "call",
				"(Ljava/lang/Object;)Ljava/lang/String;");
		bridge.visitVarInsn(Opcodes.ALOAD, 0);
		bridge.visitVarInsn(Opcodes.ALOAD, 1);
		bridge.visitTypeInsn(Opcodes.CHECKCAST, "java/lang/Number");
		bridge.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/Number", "longValue", "()J", false);
		bridge.visitMethodInsn(Opcodes.INVOKEVIRTUAL, this.name, function, "(J)Ljava/lang/String;", false);
		end(bridge, Opcodes.ARETURN);
		this.writer.visitEnd();
		return this.writer.toByteArray();
	}

	private MethodVisitor begin(int access, String method, String descriptor) {
		MethodVisitor code = this.writer.visitMethod(access, method, descriptor, null, null);
		code.visitCode();
		return code;
	}

	private static void end(MethodVisitor code, int instruction) {
		code.visitInsn(instruction);
		code.visitMaxs(0, 0);
		code.visitEnd();
	}

}
