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

/** For error texts: also what providers leave of a key they mask themselves (`sk-pro***h3Qw`). */
export function redactMasked(text: string): string {
  return text.replace(/[\w.-]*\*{3,}[\w.-]*/g, mask);
}
