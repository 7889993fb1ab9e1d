/** Names that programs give themselves, as a person reads them before they agree. */

export const maxClientNameChars = 100;

/**
 * Returns a stranger's name on one line of visible characters: no line ends, nothing invisible and nothing that turns text
 * around. Null when nothing is left.
 */
export function shownName(text: string): string | null {
  const visible = text
    .slice(0, 4 * maxClientNameChars)
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const name = Array.from(visible).slice(0, maxClientNameChars).join('').trim();
  return name === '' ? null : name;
}
