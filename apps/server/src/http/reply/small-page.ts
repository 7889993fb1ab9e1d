/** A page of a few words, for people whose browser comes to an address without an application. */
import type { IncomingHttpHeaders } from 'node:http';

export interface PageLink {
  readonly url: string;
  readonly text: string;
}

export function smallPage(title: string, text: string, link: PageLink | null = null): string {
  const to = link === null ? '' : `<p><a href="${escaped(link.url)}" rel="noreferrer">${escaped(link.text)}</a></p>`;
  return pageOf(title, `<p>${escaped(text)}</p>${to}`);
}

/** `html` stands below the title; every foreign text in it was `escaped`. */
export function pageOf(title: string, html: string): string {
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${escaped(title)}</title></head><body><main><h1>${escaped(title)}</h1>${html}` +
    `</main></body></html>\n`
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character]!);

/** Whether a person's browser asks, and no program with a key. */
export const wantsPage = (headers: IncomingHttpHeaders): boolean =>
  /\btext\/html\b/i.test(headers.accept ?? '') && headers['x-api-key'] === undefined && !headers.authorization;
