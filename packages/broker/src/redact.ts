const mask = '[redacted]';
/** Shorter keys are placeholders such as `ollama`: no secret, and words of their own in any text. */
const shortestSecret = 8;

/** Replaces a key in what a provider said, whichever way it is written in JSON, headers and URLs. */
export type Redact = (text: string) => string;

export function redactor(key: string | null): Redact {
  if (key === null || key.length < shortestSecret) return (text) => text;
  const escaped = JSON.stringify(key).slice(1, -1);
  const spellings = new Set([key, escaped, escaped.replaceAll('/', String.raw`\/`), encodeURIComponent(key)]);
  return (text) => {
    let clean = text;
    for (const spelling of spellings) clean = clean.replaceAll(spelling, mask);
    return clean;
  };
}

/** For error texts: also what providers leave of a key they mask themselves (`sk-pro***h3Qw`). */
export function redactMasked(text: string): string {
  return text.replace(/[\w.-]*\*{3,}[\w.-]*/g, mask);
}
