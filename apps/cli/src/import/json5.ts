/**
 * Reads JSON as people write it by hand, which OpenClaw takes: with comments, single quotes, names without quotes, and commas at
 * an end.
 */

/** Each kind of token starts in its own way, so no text is read twice. */
const token =
  /\s+|\/\/[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/|"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|[\w$.+-]+|[{}[\],:]/gy;
const named = /^[A-Za-z_$][\w$]*$/;
const words = new Set(['true', 'false', 'null']);

/** Returns the value. Throws a SyntaxError where there is none. */
export function parseJson5(text: string): unknown {
  const out: string[] = [];
  const source = text.replace(/^\ufeff/, '');
  let at = 0;
  token.lastIndex = 0;
  for (let found = token.exec(source); found !== null; found = token.exec(source)) {
    at = token.lastIndex;
    const [each] = found;
    if (each.trim() === '' || each.startsWith('//') || each.startsWith('/*')) continue;
    if ((each === '}' || each === ']') && out.at(-1) === ',') out.pop();
    out.push(plain(each));
  }
  if (at < source.length) throw new SyntaxError('no JSON');
  return JSON.parse(out.join(' '));
}

/** Returns the token as JSON has it. */
function plain(each: string): string {
  if (each.startsWith("'") || each.startsWith('"')) return JSON.stringify(unescaped(each.slice(1, -1)));
  if (named.test(each) && !words.has(each)) return JSON.stringify(each);
  return each.startsWith('+') ? each.slice(1) : each;
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '0': '\0',
  '\n': '',
};

const unescaped = (text: string): string =>
  text.replaceAll(
    /\\(?:u([\dA-Fa-f]{4})|x([\dA-Fa-f]{2})|\r\n|([^]))/g,
    (_, four?: string, two?: string, one = '\n') => {
      const code = four ?? two;
      return code === undefined
        ? (escapes[one as string] ?? (one as string))
        : String.fromCharCode(Number.parseInt(code, 16));
    },
  );
