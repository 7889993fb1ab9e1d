/** Decimal text of money. */

/** Digits behind the point that are kept: a millionth of what a micro-dollar is. */
const places = 12;

/** The decimal value of a JavaScript number: the error of its arithmetic is far behind the last kept digit. */
export function decimalOf(value: number): string {
  return trimmed(value.toFixed(places));
}

/** The exact cost of tokens by prices for a million each. */
export function addDecimals(parts: readonly (readonly [tokens: number, perMillion: string])[]): string {
  const digits = Math.max(...parts.map(([, price]) => fractionOf(price).length));
  const sum = parts.reduce((total, [tokens, price]) => {
    const scaled = BigInt(price.replace('.', '') + '0'.repeat(digits - fractionOf(price).length));
    return total + BigInt(tokens) * scaled;
  }, 0n);
  const text = String(sum).padStart(digits + 7, '0');
  return trimmed(`${text.slice(0, -(digits + 6))}.${text.slice(-(digits + 6))}`);
}

const fractionOf = (price: string): string => price.split('.')[1] ?? '';
const trimmed = (text: string): string => text.replace(/\.?0+$/, '');
