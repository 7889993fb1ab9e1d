/** What of the headers that a connection sets is not for the guest. */

/** Shorter text is no secret by itself, and stands in answers by chance. */
const minChars = 8;
/** A cookie's pairs and a scheme's parameters are settings more often than secrets where they are short. */
const minPairChars = 12;

/** Whole values, and each whole secret within them. `credentials`: values by the names of their headers. */
export function secretsOf(credentials: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set(Object.values(credentials).flatMap(partsOf))];
}

function partsOf(value: string): readonly string[] {
  const pairs = value.split(/[;,]/).flatMap((pair) => {
    const sign = pair.indexOf('=');
    if (sign < 0) return [];
    const given = pair.slice(sign + 1).trim();
    return [given.replaceAll('"', '')].filter(({ length }) => length >= minPairChars);
  });
  return [...valuesOf(value).filter(({ length }) => length >= minChars), ...pairs];
}

/** A scheme is no secret, and stands in answers without one. */
function valuesOf(value: string): readonly string[] {
  const space = value.indexOf(' ');
  if (space < 0) return [value];
  const token = value.slice(space + 1).trim();
  if (value.slice(0, space).toLowerCase() !== 'basic') return [token];
  const plain = Buffer.from(token, 'base64').toString();
  return [token, plain, plain.slice(plain.indexOf(':') + 1)];
}
