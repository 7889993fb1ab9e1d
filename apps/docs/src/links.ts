/** Links between files of the repository, as links between pages of the site. */
import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { Page } from './pages.ts';

/** Addresses of files that the server answers with, and not the site. */
const beside: Readonly<Record<string, string>> = { 'docs/reference/openapi.json': '/v1/openapi.json' };
const link = /\[([^[\]\n]*)\]\(([^()\s]+)\)/g;

/**
 * The text of a page with its links to other files led to the pages of those. A link to a file that is no page, such as a
 * decision record, becomes plain text. Throws where a file is not there.
 */
export function withLinks(page: Page, pages: ReadonlyMap<string, Page>, root: string): string {
  const lead = (whole: string, text: string, target: string): string => {
    if (/^(?:[a-z]+:|#|\/)/.test(target)) return whole;
    const [path = '', hash] = target.split('#', 2);
    const file = posix.normalize(posix.join(dirname(page.file), path));
    if (!existsSync(join(root, file))) throw new Error(`${page.file} links to ${target}, which is not there`);
    const found = pages.get(file);
    if (found) {
      const way = posix.relative(posix.dirname(page.place), found.place);
      return `[${text}](${way.startsWith('.') ? '' : './'}${way}.md${hash === undefined ? '' : `#${hash}`})`;
    }
    // The server answers there, and not the site.
    const other = beside[file];
    return other === undefined ? text : `[${text}](${other}){target="_self"}`;
  };
  return linksIn(page.text, lead);
}

/** The same text for readers without a browser: links name the pages' Markdown below an address. */
export function withAddresses(page: Page, pages: ReadonlyMap<string, Page>, base: string): string {
  return linksIn(page.text, (whole, text, target) => {
    if (/^(?:[a-z]+:|#|\/)/.test(target)) return whole;
    const found = pages.get(posix.normalize(posix.join(dirname(page.file), target.split('#', 1)[0]!)));
    return found ? `[${text}](${base}${found.place}.md)` : text;
  });
}

function linksIn(text: string, lead: (whole: string, text: string, target: string) => string): string {
  // A link's text may be code, so links are looked for in whole lines outside of fenced code.
  let inFence = false;
  return text
    .split('\n')
    .map((line) => {
      if (line.trimStart().startsWith('```')) {
        inFence = !inFence;
        return line;
      }
      return inFence ? line : line.replaceAll(link, lead);
    })
    .join('\n');
}
