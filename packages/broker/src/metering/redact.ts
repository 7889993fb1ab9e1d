const mask = '[redacted]';
/** Shorter keys are placeholders such as `ollama`: no secret, and words of their own in any text. */
const shortestSecret = 8;

/** Replaces secrets in what a provider said, whichever way it is written in JSON, headers and URLs. */
export type Redact = (text: string) => string;

export function redactor(secrets: readonly string[]): Redact {
  const spellings = new Set(secrets.filter((secret) => secret.length >= shortestSecret).flatMap(spellingsOf));
  return (text) => {
    let clean = text;
    for (const spelling of spellings) if (clean.includes(spelling)) clean = clean.replaceAll(spelling, mask);
    return clean;
  };
}

function spellingsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, escaped.replaceAll('/', String.raw`\/`), encodeURIComponent(secret)];
}

const stars = /\*{3,}/g;
const beside = /[\w.-]/;

/**
 * For error texts: also what providers leave of a key they mask themselves (`sk-pro***h3Qw`). The stars are looked for
 * first, and no letter is looked at twice.
 */
export function redactMasked(text: string): string {
  let clean = '';
  let done = 0;
  for (const { index, 0: found } of text.matchAll(stars)) {
    let [start, end] = [index, index + found.length];
    while (start > done && beside.test(text[start - 1]!)) start--;
    while (end < text.length && beside.test(text[end]!)) end++;
    clean += text.slice(done, start) + mask;
    done = end;
  }
  return clean + text.slice(done);
}
