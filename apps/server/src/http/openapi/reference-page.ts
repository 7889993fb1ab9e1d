/**
 * The reference of the API for people, at /docs/reference/api: Scalar's page over the OpenAPI document. It loads only from this server.
 */
import { createHash } from 'node:crypto';
import reference from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import type { App } from '../app-types.ts';
import { keep, sendKept } from '../reply/kept.ts';
import type { Kept } from '../reply/kept.ts';

/** The one link to another host that no setting takes away: whose work the page is. Neither seen nor read out. */
const withoutVendor = 'a[href*="scalar.com"] { display: none !important; }';

const inlineScript = /<script type="text\/javascript">([\s\S]*?)<\/script>/;
const scriptPath = 'js/scalar.js';
export const referencePath = '/docs/reference/api/';

/** The page and script, which Scalar's plugin would make anew for every request. Its script has 4 MiB. */
interface Made {
  readonly page: Kept;
  readonly policy: string;
  readonly script: Kept;
}

let made: Promise<Made> | undefined;

export async function referencePage(app: App): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, public: true };
    route.schema = { ...route.schema, hide: true };
  });
  app.get(referencePath, async (request, reply) => {
    // Addresses in the page are relative to the slash.
    if (!request.url.split('?', 1)[0]!.endsWith('/')) return reply.redirect(referencePath, 301);
    const { page, policy } = await (made ??= make());
    return sendKept(request, reply.header('content-security-policy', policy), page, 'no-cache');
  });
  app.get(`${referencePath}${scriptPath}`, async (request, reply) => {
    const { script } = await (made ??= make());
    const isNamed = (request.query as { readonly v?: unknown }).v === script.version;
    return sendKept(request, reply, script, isNamed ? 'public, max-age=31536000, immutable' : 'no-cache');
  });
}

/** Asks the plugin once, in a server of its own. The page names the script by its content, so that browsers keep it. */
async function make(): Promise<Made> {
  const source = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await source.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/v1/openapi.json',
      pageTitle: 'Lodge API',
      withDefaultFonts: false,
      telemetry: false,
      // Scalar's own services are not offered: they are on other hosts.
      agent: { disabled: true, hideAddApi: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      customCss: withoutVendor,
    },
  });
  const [page, library] = [await source.inject('/docs/'), await source.inject(`/docs/${scriptPath}`)];
  await source.close();
  const script = await keep(library.rawPayload, 'application/javascript; charset=utf-8');
  const text = page.body.replace(`"${scriptPath}"`, `"${scriptPath}?v=${script.version}"`);
  return { page: await keep(text, 'text/html; charset=utf-8'), policy: policyOf(text), script };
}

/** The one script that is in the page is named by its hash; Scalar's own styles are made while it runs. */
function policyOf(page: string): string {
  const inPage = inlineScript.exec(page)![1]!;
  return [`script-src 'self' 'sha256-${createHash('sha256').update(inPage).digest('base64')}'`, ...policy].join('; ');
}

const policy = [
  "default-src 'none'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
];
