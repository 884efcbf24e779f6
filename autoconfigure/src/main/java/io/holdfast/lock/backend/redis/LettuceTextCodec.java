package io.holdfast.lock.backend.redis;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.codec.StringCodec;
import io.netty.buffer.ByteBufUtil;

/**
 * UTF-8 with the exact length of each text. Lettuce then writes it to the request at
 * once. Without a length, it allocates a buffer for each key and argument, of which an
 * attempt has twelve.
 */
final class LettuceTextCodec extends StringCodec {

	static final LettuceTextCodec INSTANCE = new LettuceTextCodec();

	private LettuceTextCodec() {
		super(StandardCharsets.UTF_8);
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
