/** Markdown as HTML for a mail. Runs in the mail thread: markdown-it takes seconds over some texts. */
import MarkdownIt from 'markdown-it';

/**
 * Pictures stay links: a mail program that loads them would tell a stranger's server what an answer says in an address.
 * HTML in the Markdown is shown as text.
 */
const markdown = new MarkdownIt('default', { html: false, linkify: false, breaks: true, typographer: false }).disable(
  'image',
);

export const htmlOf = (text: string): string => `<div dir="auto">${markdown.render(text)}</div>`;
