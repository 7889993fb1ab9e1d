import { Refusal } from '@lodge/domain';
import type { IncomingHttpHeaders } from 'node:http';

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses pages of unknown origins, as the protocol asks. `own` is this service's origin. A page that was loaded from the host
 * of the request is refused too, unless that host is loopback: a stranger's name may lead here (DNS rebinding).
 */
export function checkOrigin(own: string, allowed: readonly string[], { origin, host }: IncomingHttpHeaders): void {
  if (origin === undefined || origin === own || allowed.includes(origin)) return;
  if (URL.canParse(origin)) {
    const page = new URL(origin);
    if (loopback.has(page.hostname) && page.host === host?.toLowerCase()) return;
  }
  throw new Refusal(
    'csrf_refused',
    'Pages of this origin may not use the MCP server. The operator allows them with LODGE_CORS_ORIGINS.',
  );
}
