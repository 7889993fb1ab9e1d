/**
 * The dashboard, as `apps/web` was built. Every path of it that is no asset is the one page; the browser decides which part of
 * it to show.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply } from 'fastify';
import type { App } from './app-types.ts';

/** Only Lodge's own files are scripts and styles: the text of a name, a log or an answer never runs. */
export const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  // Pictures of an agent's workspace are fetched by the page, and shown from its memory.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/** An asset's name holds a hash of its content. */
const assetCaching = 'public, max-age=31536000, immutable';
/** At the dashboard's other addresses it is the page for browsers alone (`isOfDashboard`). */
const paths = ['/account', '/account/*'];
const isPublic = { public: true } as const;

export class WebPages {
  readonly #folder: string;
  #page: Promise<Buffer> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async addTo(app: App): Promise<void> {
    await this.#read();
    await app.register(async (assets) => {
      assets.addHook('onRoute', (route) => {
        route.config = { ...route.config, ...isPublic };
        route.schema = { ...route.schema, hide: true };
      });
      await assets.register(fastifyStatic, {
        root: join(this.#folder, 'assets'),
        prefix: '/account/assets/',
        decorateReply: false,
        cacheControl: false,
        index: false,
        setHeaders: (reply) => {
          reply.header('cache-control', assetCaching);
          reply.header('content-security-policy', policy);
        },
      });
    });
    for (const url of paths) {
      app.get(url, { config: isPublic, schema: { hide: true } }, (_request, reply) => this.send(reply));
    }
  }

  async send(reply: FastifyReply): Promise<FastifyReply> {
    return reply
      .headers({ 'content-security-policy': policy, 'cache-control': 'no-cache', 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8')
      .send(await this.#read());
  }

  #read(): Promise<Buffer> {
    return (this.#page ??= readFile(join(this.#folder, 'index.html')));
  }
}
