/**
 * A text of Slack as a person reads it: `<https://a|b>` becomes a link, `&lt;` a sign. One pass, in linear time.
 * See docs.slack.dev/messaging/formatting-message-text.
 */
export function readableText(text: string): string {
  let readable = '';
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf('<', at);
    const end = start === -1 ? -1 : text.indexOf('>', start);
    if (end === -1) break;
    readable += unescaped(text.slice(at, start)) + linkOf(text.slice(start + 1, end));
    at = end + 1;
  }
  return readable + unescaped(text.slice(at));
}

/** The mention of the agent at the beginning of a text is left out. */
export function withoutMention(text: string, userId: string): string {
  const trimmed = text.trimStart();
  for (const mention of [`<@${userId}>`, `<@${userId}|`]) {
    if (!trimmed.startsWith(mention)) continue;
    const end = trimmed.indexOf('>');
    return end === -1 ? text : trimmed.slice(end + 1).replace(/^[\s:,]{1,20}/, '');
  }
  return text;
}

export const mentions = (text: string, userId: string): boolean =>
  text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

function linkOf(inner: string): string {
  const bar = inner.indexOf('|');
  const target = unescaped(bar === -1 ? inner : inner.slice(0, bar));
  const label = bar === -1 ? '' : unescaped(inner.slice(bar + 1));
  switch (inner.slice(0, 1)) {
    // An id without a name stays a mention: the agent can use it to mention somebody.
    case '@':
      return label === '' ? `<${target}>` : `@${label}`;
    case '#':
      return label === '' ? `<${target}>` : `#${label}`;
    case '!':
      return label === '' ? `@${target.slice(1)}` : label;
    default:
      return label === '' || label === target ? target : `[${label}](${target})`;
  }
}
