/** The ways in which a server may write a secret that it was sent: as it is, or as formats write text. */

/** Shorter text is no secret by itself, and stands in answers by chance. */
const minChars = 8;

/** What of the headers that a connection sets is not for the guest: whole values, and what is secret within them. */
export function secretsOf(credentials: Readonly<Record<string, string>>): readonly string[] {
  const found = Object.values(credentials).flatMap(partsOf);
  return [...new Set(found)].filter(({ length }) => length >= minChars);
}

/** A scheme is no secret, and stands in answers without one. */
function partsOf(value: string): readonly string[] {
  // A cookie's pairs, and the parameters of a scheme.
  const pairs = value.split(/[;,]/).flatMap((pair) => {
    const sign = pair.indexOf('=');
    return sign < 0
      ? []
      : [
          pair
            .slice(sign + 1)
            .trim()
            .replaceAll('"', ''),
        ];
  });
  const space = value.indexOf(' ');
  if (space < 0) return [value, ...pairs];
  const token = value.slice(space + 1).trim();
  if (value.slice(0, space).toLowerCase() !== 'basic') return [token, ...pairs];
  const plain = Buffer.from(token, 'base64').toString();
  return [token, plain, plain.slice(plain.indexOf(':') + 1), ...pairs];
}

/** Bytes that say the secret, each as text of one character for each byte. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const forms = [
    secret,
    json,
    json.replaceAll('/', '\\/'),
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    htmlOf(secret),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    Buffer.from(secret, 'utf16le').toString('latin1'),
    Buffer.from(secret, 'utf16le').swap16().toString('latin1'),
    ...[0, 1, 2].flatMap((before) => base64Within(bytes, before)),
  ];
  return [...new Set(forms)];
}

const htmlOf = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** Base64 of bytes that stand behind so many others, without the characters that the neighbours have a part in. */
function base64Within(bytes: Buffer, before: number): readonly string[] {
  const shared = before === 0 ? 0 : before + 1;
  const whole = Math.floor(((before + bytes.length) * 8) / 6);
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(shared, whole);
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
