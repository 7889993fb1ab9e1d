/** Only this much of a longer text is searched. */
const maxTextChars = 256 * 1024;
const maxPathChars = 1_024;
const maxFiles = 20;

/** Prefixes of the path in a link to a file of the workspace. */
const schemes = ['file://', 'sandbox:', ''] as const;
const folder = '/workspace/';

/**
 * The files of the workspace that an answer links to: absolute paths below /workspace that are the target of a Markdown link
 * or image, each once, in order. Nothing proves that such a file exists. The text is a guest's, so its length, the paths and
 * their number are bounded, and no character is looked at twice.
 */
export function filesIn(answer: string): readonly string[] {
  const text = answer.slice(0, maxTextChars);
  const files = new Set<string>();
  for (let at = text.indexOf(']('); at !== -1 && files.size < maxFiles;) {
    const target = targetAt(text, at + 2);
    const path = target === null ? null : pathOf(target.text);
    if (path !== null) files.add(path);
    at = text.indexOf('](', target?.end ?? at + 2);
  }
  return [...files];
}

interface Target {
  readonly text: string;
  readonly end: number;
}

/**
 * The target of the link that begins there, `<in brackets>` or without a blank in it; null where it is no workspace file.
 */
function targetAt(text: string, begin: number): Target | null {
  const isBracketed = text[begin] === '<';
  const start = isBracketed ? begin + 1 : begin;
  if (!schemes.some((scheme) => text.startsWith(scheme + folder, start))) return null;
  const ends = isBracketed ? '>\n' : ') \t\n';
  let end = start;
  while (end < text.length && !ends.includes(text[end]!)) end += 1;
  return { text: text.slice(start, end), end };
}

function pathOf(target: string): string | null {
  const scheme = schemes.find((candidate) => target.startsWith(candidate))!;
  const path = decoded(target.slice(scheme.length));
  if (path === null || path.length > maxPathChars || /\p{Cc}/u.test(path)) return null;
  const names = path.slice(folder.length).split('/');
  return names.some((name) => name === '' || name === '.' || name === '..') ? null : path;
}

function decoded(path: string): string | null {
  if (path.length > 3 * maxPathChars) return null;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
