const mostChars = 100;

/** Cuts a stranger's text; characters that would be torn stay whole. */
export const cut = (words: string, most = mostChars): string => {
  const chars = Array.from(words.slice(0, most * 2));
  return chars.length > most || words.length > most * 2 ? `${chars.slice(0, most).join('')}…` : words;
};

/** A name that somebody gave themselves: cut, and isolated from the direction of the text around it. */
export function Stranger({ name }: { readonly name: string }) {
  const shown = cut(name.replaceAll(/\s+/g, ' ').trim());
  return <bdi className="wrap-anywhere">{shown === '' ? 'Somebody without a name' : shown}</bdi>;
}
