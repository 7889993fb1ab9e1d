/**
 * The reference of the API for people, at /docs/reference/api: Scalar's page over the OpenAPI document. It loads only from this server.
 */
import { createHash } from 'node:crypto';
import reference from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import type { App } from '../app-types.ts';
import { keep, sendKept } from '../reply/kept.ts';
import type { Kept } from '../reply/kept.ts';

/** Lodge's colour, the room for the bar, and no link to the vendor, which no setting takes away. */
const style = `
a[href*="scalar.com"] { display: none !important; }
:root { --scalar-custom-header-height: 3rem; }
.light-mode { --scalar-color-accent: #1b6b50; --scalar-background-accent: #e4f0ea; }
.dark-mode { --scalar-color-accent: #72cfab; --scalar-background-accent: #18332a; }`;

/** Leads back to the guides and to the dashboard: the page has no way of its own to anything beside it. */
const bar = `<nav class="lodge-bar" aria-label="Lodge">
<a href="/docs/"><img src="/docs/icon.svg" alt="" width="24" height="24"> Lodge</a>
<span><a href="/docs/">Guides</a> <a href="/docs/reference/api/" aria-current="page">API</a> <a href="/">Dashboard</a></span>
</nav>`;
const barStyle = `<style>
body { margin: 0; }
.lodge-bar { position: sticky; top: 0; z-index: 20; box-sizing: border-box; display: flex; align-items: center; justify-content: space-between; height: 3rem; padding: 0 1rem; border-bottom: 1px solid light-dark(#e2e2dc, #29302d); background: light-dark(#ffffff, #161a18); font: 500 0.875rem/1.25rem ui-sans-serif, system-ui, sans-serif; color-scheme: light dark; }
body.light-mode .lodge-bar { color-scheme: light; }
body.dark-mode .lodge-bar { color-scheme: dark; }
.lodge-bar a { color: light-dark(#181c1a, #e9edeb); text-decoration: none; }
.lodge-bar > a { display: flex; align-items: center; gap: 0.625rem; font-weight: 600; }
.lodge-bar > span { display: flex; gap: 1.25rem; }
.lodge-bar a:hover, .lodge-bar [aria-current] { color: light-dark(#1b6b50, #72cfab); }
</style>`;

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
      customCss: style,
    },
  });
  const [page, library] = [await source.inject('/docs/'), await source.inject(`/docs/${scriptPath}`)];
  await source.close();
  const script = await keep(library.rawPayload, 'application/javascript; charset=utf-8');
  const text = page.body
    .replace(`"${scriptPath}"`, `"${scriptPath}?v=${script.version}"`)
    .replace('</head>', `${barStyle}</head>`)
    .replace('<body>', `<body>${bar}`);
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
