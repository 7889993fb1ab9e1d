/** How far back a better place is searched, in UTF-16 units: only deliberate texts have longer characters. */
const maxBack = 32;

/** The last place up to `at`, and after `from`, that is not within a visible character, as far as that is cheap to know. */
export function endOfCharacter(text: string, at: number, from: number): number {
  if (at >= text.length) return text.length;
  const least = Math.max(from + 1, at - maxBack);
  for (let end = at; end >= least; end -= 1) {
    if (isBetweenCharacters(text, end)) return end;
  }
  return isLowSurrogate(text.charCodeAt(at)) && at - 1 > from ? at - 1 : at;
}

function isBetweenCharacters(text: string, at: number): boolean {
  if (isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1))) return false;
  const next = text.codePointAt(at)!;
  if (isJoined(next)) return false;
  const before = codePointBefore(text, at);
  if (before === zeroWidthJoiner) return false;
  // Two of these are one flag. The search does not pair many of them.
  return !(isRegional(next) && isRegional(before));
}

const zeroWidthJoiner = 0x200d;

/** Whether a code point belongs to the one before it: marks, variation selectors, skin tones, the joiner, tags of flags. */
const isJoined = (codePoint: number): boolean =>
  codePoint === zeroWidthJoiner ||
  (codePoint >= 0x1f3fb && codePoint <= 0x1f3ff) ||
  (codePoint >= 0xe0020 && codePoint <= 0xe007f) ||
  (codePoint > 0x2ff && /^\p{M}$/u.test(String.fromCodePoint(codePoint)));

const isRegional = (codePoint: number): boolean => codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;

function codePointBefore(text: string, at: number): number {
  const low = text.charCodeAt(at - 1);
  return isLowSurrogate(low) && at >= 2 && isHighSurrogate(text.charCodeAt(at - 2)) ? text.codePointAt(at - 2)! : low;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
