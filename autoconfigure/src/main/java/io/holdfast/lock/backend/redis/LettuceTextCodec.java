package io.holdfast.lock.backend.redis;

import java.nio.ByteBuffer;

import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.codec.ToByteBufEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/**
 * UTF-8, like {@link StringCodec#UTF8}, but with the exact length of each text. Lettuce
 * then writes it to the request at once. Without a length, it allocates a buffer for each
 * key and argument, of which an attempt has twelve.
 */
final class LettuceTextCodec implements RedisCodec<String, String>, ToByteBufEncoder<String, String> {

	static final LettuceTextCodec INSTANCE = new LettuceTextCodec();

	private LettuceTextCodec() {
	}

	@Override
	public String decodeKey(ByteBuffer bytes) {
		return StringCodec.UTF8.decodeKey(bytes);
	}

	@Override
	public String decodeValue(ByteBuffer bytes) {
		return StringCodec.UTF8.decodeValue(bytes);
	}

	@Override
	public ByteBuffer encodeKey(String key) {
		return StringCodec.UTF8.encodeKey(key);
	}

	@Override
	public ByteBuffer encodeValue(String value) {
		return StringCodec.UTF8.encodeValue(value);
	}

	@Override
	public void encodeKey(String key, ByteBuf target) {
		ByteBufUtil.writeUtf8(target, key);
	}

	@Override
	public void encodeValue(String value, ByteBuf target) {
		ByteBufUtil.writeUtf8(target, value);
	}

	@Override
	public int estimateSize(Object text) {
		return ByteBufUtil.utf8Bytes((String) text);
	}

	@Override
	public boolean isEstimateExact() {
		return true;
	}

}
