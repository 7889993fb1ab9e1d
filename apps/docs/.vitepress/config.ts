/**
 * The site of the documents, at /docs of the control plane. It loads nothing from elsewhere, and no script stands in a page:
 * the pages' policy forbids both.
 */
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { readSections } from '../src/pages.ts';

const root = join(import.meta.dirname, '../../..');
const sections = await readSections(root);
const base = '/docs/';
const inlineScript = /<script id="check-[^>]*>([^<]*)<\/script>/g;

/** The scripts that VitePress puts into each page: they set the theme before the page shows. */
let early = '';

export default defineConfig({
  title: 'Lodge',
  description: 'Self-hosted hosting for AI agents',
  lang: 'en',
  base,
  srcDir: '.pages',
  cacheDir: '.cache',
  cleanUrls: true,
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  markdown: {
    // Words in angle brackets stand for values; nobody writes HTML here.
    html: false,
    config(markdown) {
      // Two braces are a template's, not Vue's.
      for (const name of ['text', 'code_inline']) {
        const rule = markdown.renderer.rules[name]!;
        markdown.renderer.rules[name] = (...given) => rule(...given).replaceAll('{{', '&#123;&#123;');
      }
    },
  },
  transformHtml(page) {
    const scripts = [...page.matchAll(inlineScript)].map(([, script]) => script);
    if (scripts.length === 0) return page;
    early = scripts.join('\n');
    const tag = `<script src="${base}${earlyFile()}"></script>`;
    let isFirst = true;
    return page.replaceAll(inlineScript, () => {
      const kept = isFirst ? tag : '';
      isFirst = false;
      return kept;
    });
  },
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, earlyFile()), early);
  },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    notFound: {
      quote: 'The address may be mistyped, or the page may have moved. The search above finds pages by their words.',
      linkText: 'Go to the first page',
      linkLabel: 'Go to the first page',
    },
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: 'Guides', link: '/' },
      { text: 'API', link: '/reference/api/', target: '_self' },
      // Above the site's own root.
      { text: 'Dashboard', link: '/../', target: '_self' },
    ],
    sidebar: sections.map(({ title, pages }) => ({
      text: title,
      items: pages.map((page) => ({ text: page.title, link: `/${page.place.replace(/(^|\/)index$/, '$1')}` })),
    })),
  },
});

const earlyFile = (): string => `assets/early.${hash('sha256', early, 'hex').slice(0, 8)}.js`;
