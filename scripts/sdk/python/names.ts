/** Names in Python's habits. */

/** `camelCase` as `snake_case`; a brand is one word. */
export function snake(name: string): string {
  return name
    .replaceAll('OAuth', 'Oauth')
    .replaceAll('WhatsApp', 'Whatsapp')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const pascal = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

/** The name of one of several: `llm_keys` is of `llm_key`. */
export const singular = (name: string): string =>
  name.endsWith('ies') ? `${name.slice(0, -3)}y` : /(?<!s)s$/.test(name) ? name.slice(0, -1) : `${name}_item`;

/** Components whose names say too little beside those of a program: the same in both SDKs. */
const renamed: Readonly<Record<string, string>> = { Error: 'ErrorBody', Event: 'LodgeEvent', File: 'AgentFile' };
export const className = (component: string): string => renamed[component] ?? component;

const keywords = new Set(
  'and as assert async await break class continue def del elif else except finally for from'.split(' '),
);
for (const word of 'global if import in is lambda nonlocal not or pass raise return try while with yield'.split(' '))
  keywords.add(word);
/** A name that can be a parameter or a field. */
export const identifier = (name: string): string => (keywords.has(name) ? `${name}_` : name);

export const text = (value: string): string => JSON.stringify(value);

/** A docstring, with its lines at most 110 characters wide. */
export function docstring(sentences: string, indent: string): string {
  const safe = sentences.replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim();
  if (safe === '') return '';
  const lines = safe.split('\n').flatMap((line) => wrapped(line, 110 - indent.length));
  const last = lines.at(-1)!.endsWith('"') ? ' ' : '';
  if (lines.length === 1) return `${indent}"""${lines[0]}${last}"""\n`;
  return `${indent}"""${lines.map((line, index) => (index === 0 || line === '' ? line : indent + line)).join('\n')}\n${indent}"""\n`;
}

/** An indented line goes on with four spaces more. */
function wrapped(line: string, width: number): readonly string[] {
  const indent = line.slice(0, line.length - line.trimStart().length);
  const lines: string[] = [];
  let present = '';
  for (const word of line.trimStart().split(' ')) {
    if (present !== '' && present.length + 1 + word.length > width) {
      lines.push(present);
      present = indent === '' ? word : `${indent}    ${word}`;
    } else present = present === '' ? indent + word : `${present} ${word}`;
  }
  return [...lines, present];
}
