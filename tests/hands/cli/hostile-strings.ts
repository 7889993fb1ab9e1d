/** 40 strings that somebody hostile might choose for a name, a line of a log, a file, an answer or an error. None has a NUL. */
const esc = '\x1b';
const bel = '\x07';

export const hostileStrings: readonly string[] = [
  `${esc}[31mred`,
  `${esc}[2J${esc}[Hcleared`,
  `${esc}]0;title${bel}after`,
  `${esc}]8;;https://evil.example${bel}link${esc}]8;;${bel}`,
  `${esc}]52;c;ZXZpbA==${bel}clipboard`,
  `${esc}P1$r0m${esc}\\dcs`,
  `${esc}_apc${esc}\\apc`,
  `${esc}^pm${esc}\\pm`,
  `${esc}Xsos${esc}\\sos`,
  `${esc}cfull reset`,
  `${esc}[6nreport`,
  `${esc}[>0qversion`,
  `${esc}[?1049halternate`,
  `${esc}[3J${esc}[1A${esc}[2Koverwritten`,
  '\x9b31mC1 control',
  '\x9d0;C1 title\x9c',
  '\x90C1 string\x9c',
  esc,
  `ends with ${esc}[`,
  `${esc}[${'9'.repeat(60)}`,
  'carriage\rreturn',
  'line\nfeed',
  'two\r\nlines',
  'tab\tbed',
  'vertical\x0btab\x0cform',
  'back\b\b\b\bspace',
  `bell${bel}`,
  'delete\x7f\x7f',
  'shift\x0eout\x0f',
  'right\u202eto left',
  'isolate\u2066\u2067d\u2069',
  'marks\u200e\u200f\u061c',
  'zero\u200bwidth\u200c\u200d\u2060\ufeff',
  'separators\u2028and\u2029',
  'tags\u{e0041}\u{e0042}\u{e007f}',
  `zalgo${'\u0301\u0327\u0489'.repeat(20)}`,
  '全角文字全角文字全角文字全角文字全角文字全角文字',
  '👩‍👩‍👧‍👦👩‍👩‍👧‍👦 ❤️ 🇩🇪🏳️‍🌈',
  '\u3164\u115f\uffa0fillers',
  'ﷺ'.repeat(30),
];

/** Characters that no terminal gets from text of others. Line feeds and tabs are tested by what they would break. */
export const obeyed =
  /[[\p{Cc}\p{Bidi_Control}\u200b-\u200d\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]--[\t\n]]/v;

/** Returns what a terminal would obey, with the screen's line ends taken away. */
export const obeyedIn = (output: string): string | null => obeyed.exec(output.replaceAll('\r\n', '\n'))?.[0] ?? null;
