/**
 * The account area's pages, as `apps/web` was built. Every path below /account that is no asset is the one page; the browser
 * decides which part of it to show.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { App } from './app-types.ts';

/** Only Lodge's own files are scripts and styles: the text of a name or a key's label never runs. */
export const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/** An asset's name holds a hash of its content. */
const assetCaching = 'public, max-age=31536000, immutable';

export async function accountPages(app: App, folder: string): Promise<void> {
  const page = await readFile(join(folder, 'index.html'));
  const config = { public: true } as const;
  await app.register(async (assets) => {
    assets.addHook('onRoute', (route) => {
      route.config = { ...route.config, ...config };
      route.schema = { ...route.schema, hide: true };
    });
    await assets.register(fastifyStatic, {
      root: join(folder, 'assets'),
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
  for (const url of ['/account', '/account/*']) {
    app.get(url, { config, schema: { hide: true } }, (_request, reply) =>
      reply
        .headers({ 'content-security-policy': policy, 'cache-control': 'no-cache', 'referrer-policy': 'no-referrer' })
        .type('text/html; charset=utf-8')
        .send(page),
    );
  }
}
