/** Lays the pages out for the generator, and the files for language models beside what it made. */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withAddresses, withLinks } from './links.ts';
import { base, llmsFullTxt, llmsTxt } from './llms.ts';
import { readSections } from './pages.ts';
import type { FilledSection, Page } from './pages.ts';

const pagesOf = (sections: readonly FilledSection[]): ReadonlyMap<string, Page> =>
  new Map(sections.flatMap(({ pages }) => pages).map((page) => [page.file, page]));

/** Writes the Markdown of every page into a folder of which the site is made. */
export async function stage(root: string, folder: string): Promise<void> {
  const pages = pagesOf(await readSections(root));
  await rm(folder, { recursive: true, force: true });
  for (const page of pages.values()) {
    await put(join(folder, `${page.place}.md`), withPictures(withLinks(page, pages, root)));
  }
  await cp(join(root, 'docs/pictures'), join(folder, 'public/pictures'), { recursive: true });
}

/**
 * A picture of two themes as two pictures, of which the style shows that of the page's theme. The generator takes no HTML, and
 * finds pictures from the root of the site, wherever a page is.
 */
function withPictures(text: string): string {
  const [before = '', ...rest] = text.split('<picture>\n');
  return rest.reduce((done, each) => {
    const [inside = '', after = ''] = each.split('</picture>', 2);
    const image = (from: string, theme: string): string =>
      `![${attribute(inside, 'alt')}](/pictures/${basename(attribute(inside, from))}){.${theme} width=${attribute(inside, 'width')} height=${attribute(inside, 'height')} loading=lazy}`;
    return `${done}${image('src', 'in-light')}${image('srcset', 'in-dark')}${after}`;
  }, before);
}

const attribute = (html: string, name: string): string => html.split(` ${name}="`)[1]?.split('"', 1)[0] ?? '';

/** Writes llms.txt, llms-full.txt and the Markdown of every page into the made site. */
export async function addTexts(root: string, site: string): Promise<void> {
  const sections = await readSections(root);
  const pages = pagesOf(sections);
  await put(join(site, 'llms.txt'), llmsTxt(sections));
  await put(join(site, 'llms-full.txt'), llmsFullTxt(sections, pages));
  for (const page of pages.values()) await put(join(site, `${page.place}.md`), withAddresses(page, pages, base));
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
