/** Finds the parts of a connection's headers that the guest must not see. */

/** Shorter text is no secret by itself, and occurs in answers by chance. */
const minChars = 8;
/** Shorter pairs of a cookie and parameters of a scheme are more often settings than secrets. */
const minPairChars = 12;

/** Returns whole values, and each whole secret within them. `credentials` are values by the names of their headers. */
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

/** Returns the value without its scheme, which is no secret and occurs in other answers. */
function valuesOf(value: string): readonly string[] {
  const space = value.indexOf(' ');
  if (space < 0) return [value];
  const token = value.slice(space + 1).trim();
  if (value.slice(0, space).toLowerCase() !== 'basic') return [token];
  const plain = Buffer.from(token, 'base64').toString();
  return [token, plain, plain.slice(plain.indexOf(':') + 1)];
}
