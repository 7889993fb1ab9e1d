/** llms.txt: what a language model reads of Lodge (https://llmstxt.org), made of the same pages as the site. */
import { withAddresses } from './links.ts';
import type { FilledSection, Page } from './pages.ts';

/** Where the site's files are on a server. */
export const base = '/docs/';

const head = `# Lodge

> Self-hosted hosting for AI agents: each agent is a real OpenClaw or Hermes Agent in its own virtual machine, and one HTTP API creates, runs and controls them.

Any OpenAI client can talk to agents: they are the models. The OpenAPI document is at /v1/openapi.json.
`;

/** The list of pages, each with its Markdown's address and its first sentence. */
export const llmsTxt = (sections: readonly FilledSection[]): string =>
  [
    head,
    ...sections.map(({ title, pages }) => {
      const lines = pages.map((page) => `- [${page.title}](${base}${page.place}.md): ${page.summary}`);
      return `## ${title}\n\n${lines.join('\n')}\n`;
    }),
  ].join('\n');

/** All pages in one text. */
export function llmsFullTxt(sections: readonly FilledSection[], pages: ReadonlyMap<string, Page>): string {
  const texts = sections.flatMap((section) => section.pages).map((page) => withAddresses(page, pages, base).trimEnd());
  return `${[head.trimEnd(), ...texts].join('\n\n---\n\n')}\n`;
}
