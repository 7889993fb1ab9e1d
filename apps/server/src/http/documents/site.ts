/**
 * The site of the documents at /docs, as scripts/build-docs.ts makes it, and llms.txt of the same pages. It may be made, or
 * made anew, while the server runs: each request looks whether it is the one that was read. Without one, /docs leads to the
 * reference of the API.
 *
 * Only files that were found in the folder are answered with, so a path cannot lead out of it.
 */
import { glob, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Refusal } from '@lodge/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import { referencePath } from '../openapi/reference-page.ts';
import { policy as ownFilesOnly } from '../pages.ts';
import { keep, sendKept } from '../reply/kept.ts';
import type { Kept } from '../reply/kept.ts';

const prefix = '/docs/';
/** The style with which VitePress changes between light and dark at once. */
const withoutTransitions = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='";
/** Colours of code are style attributes. */
const policy = `${ownFilesOnly.replace("style-src 'self'", `style-src 'self' ${withoutTransitions}`)}; style-src-attr 'unsafe-inline'`;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
};

/** One made site: its files are kept as they are asked for. */
class Site {
  readonly mark: string;
  private readonly folder: string;
  private readonly files: ReadonlySet<string>;
  private readonly kept = new Map<string, Promise<Kept>>();

  constructor(folder: string, mark: string, files: ReadonlySet<string>) {
    this.folder = folder;
    this.mark = mark;
    this.files = files;
  }

  /** The file for a path below /docs, or the path that the browser should ask for instead. */
  find(path: string): { readonly file: string } | { readonly instead: string } | null {
    if (this.files.has(path) && !path.endsWith('.html')) return { file: path };
    const page = path.replace(/\/$/, '').replace(/(?:(?:^|\/)index)?\.html$/, '');
    const isFolder = this.files.has(join(page, 'index.html'));
    if (!isFolder && !this.files.has(`${page}.html`)) return null;
    const place = isFolder && page !== '' ? `${page}/` : page;
    if (place !== path) return { instead: place };
    return { file: isFolder ? join(page, 'index.html') : `${page}.html` };
  }

  read(file: string): Promise<Kept> {
    const kept = this.kept.get(file) ?? this.load(file);
    this.kept.set(file, kept);
    // A site that was just replaced has other files: they are read by the next request.
    kept.catch(() => this.kept.delete(file));
    return kept;
  }

  private async load(file: string): Promise<Kept> {
    return keep(await readFile(join(this.folder, file)), types[extname(file)] ?? 'application/octet-stream');
  }
}

/** Registers /docs and llms.txt over a folder in which a site is, or will be. */
export async function documentsSite(app: App, folder: string): Promise<void> {
  let site: Site | null = null;
  const current = async (): Promise<Site | null> => {
    const mark = await readFile(join(folder, '.built-from'), 'utf8').catch(() => null);
    if (mark === null || site?.mark === mark) return site;
    const files = new Set<string>();
    for await (const file of glob('**/*.*', { cwd: folder })) files.add(file);
    return (site = new Site(folder, mark, files));
  };
  const send = async (request: FastifyRequest, reply: FastifyReply, made: Site, file: string) => {
    reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer');
    const caching = file.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    return sendKept(request, reply, await made.read(file), caching);
  };
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, public: true };
    route.schema = { ...route.schema, hide: true };
  });
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const made = await current();
    const [path = ''] = request.url.split('?', 1);
    if (made === null) {
      if (path.length <= prefix.length) return reply.redirect(referencePath, 302);
      throw new Refusal('route_not_found', 'The documents are not built yet. npm start builds them.');
    }
    if (path === '/docs') return reply.redirect(prefix, 301);
    const found = made.find(path.slice(prefix.length));
    if (found === null) return send(request, reply.code(404), made, '404.html');
    return 'file' in found ? send(request, reply, made, found.file) : reply.redirect(prefix + found.instead, 301);
  };
  for (const url of ['/docs', '/docs/*']) app.get(url, answer);
  for (const file of ['llms.txt', 'llms-full.txt']) {
    app.get(`/${file}`, async (request, reply) => {
      const made = await current();
      if (made === null)
        throw new Refusal('route_not_found', 'The documents are not built yet. npm start builds them.');
      return send(request, reply, made, file);
    });
  }
}
