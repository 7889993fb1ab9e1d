import type { RenderedText } from '@lodge/ports';
import { emptyAnswer } from '../shared/plain.ts';
import { splitMarkdown } from '../shared/split.ts';
import { tablesAsCode } from '../shared/tables.ts';

/** Bound on `markdown_text`; docs.slack.dev/reference/block-kit/blocks/markdown-block. */
export const maxMarkdownChars = 12_000;

/** Slack takes Markdown as it is; its blocks have no tables. */
export function renderSlack(markdown: string): readonly RenderedText[] {
  const pieces = splitMarkdown(withoutBroadcasts(tablesAsCode(markdown)), maxMarkdownChars);
  return (pieces.length > 0 ? pieces : [emptyAnswer]).map((text) => ({ text, format: 'markdown' }));
}

/** A person who talks an agent into it must not notify everybody: `<!channel>` stays text, by a character without width. */
const withoutBroadcasts = (markdown: string): string => markdown.replaceAll('<!', '<\u200b!');

/**
 * For where Slack does not take Markdown: its own marks. Bold, links and headings are turned, line by line; code stays as it is.
 * See docs.slack.dev/messaging/formatting-message-text.
 */
export function mrkdwnOf(markdown: string): string {
  let isCode = false;
  const lines = escaped(markdown).split('\n');
  return lines
    .map((line) => {
      if (line.trimStart().startsWith('```')) {
        isCode = !isCode;
        return line.replace(/```[\w+-]{0,40}$/, '```');
      }
      return isCode ? line : mrkdwnLine(line);
    })
    .join('\n');
}

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/^&gt; /gm, '> ');

function mrkdwnLine(line: string): string {
  const heading = /^#{1,6} /.exec(line);
  if (heading) return `*${line.slice(heading[0].length).replaceAll('**', '')}*`;
  return line
    .split('`')
    .map((part, at) => (at % 2 === 1 ? part : linked(part).replaceAll('**', '*').replaceAll('~~', '~')))
    .join('`');
}

/** `[a](https://b)` as `<https://b|a>`. Each bracket is looked at once. */
function linked(text: string): string {
  let out = '';
  let at = 0;
  for (let middle = text.indexOf('](http'); middle !== -1; middle = text.indexOf('](http', at)) {
    const start = text.lastIndexOf('[', middle);
    const end = text.indexOf(')', middle);
    if (end === -1) break;
    if (start < at) out += text.slice(at, end + 1);
    else out += `${text.slice(at, start)}<${text.slice(middle + 2, end)}|${text.slice(start + 1, middle)}>`;
    at = end + 1;
  }
  return out + text.slice(at);
}
