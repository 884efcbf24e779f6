/**
 * The page at {@code /}. Many buyers order one product at the same time, in one of four
 * modes, and the page shows each of their steps and what the database says in the end.
 */
@NullMarked
package io.holdfast.sample.sale;

import org.jspecify.annotations.NullMarked;
