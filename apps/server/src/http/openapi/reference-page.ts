/** The reference of the API for people, at /docs: Scalar's page over the OpenAPI document, which asks nobody but this server. */
import { createHash } from 'node:crypto';
import reference from '@scalar/fastify-api-reference';
import type { App } from '../app-types.ts';

const inlineScript = /<script type="text\/javascript">([\s\S]*?)<\/script>/;

export async function referencePage(app: App): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, public: true };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('onSend', async (_request, reply, body) => {
    // The one script that is in the page is named by its hash; Scalar's own styles are made while it runs.
    const script = typeof body === 'string' ? inlineScript.exec(body)?.[1] : undefined;
    const allowed = script === undefined ? '' : ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`;
    reply.header('content-security-policy', [`script-src 'self'${allowed}`, ...policy].join('; '));
    return body;
  });
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: { url: '/v1/openapi.json', pageTitle: 'Lodge API', withDefaultFonts: false, telemetry: false },
  });
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
