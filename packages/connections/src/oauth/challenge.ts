/** The challenge of a server that wants OAuth, in its refusal (RFC 6750, section 3, and RFC 9728, section 5.1). */
import type { OutboundResponse } from '@lodge/egress';
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { isScope } from '@lodge/domain';

export interface Challenge {
  /** The address of the server's requirements, or null. */
  readonly metadataUrl: URL | null;
  readonly scope: string | null;
  readonly error: string | null;
}

const maxChars = 4_096;

export function challengeOf(headers: OutboundResponse['headers']): Challenge {
  const given = [headers['www-authenticate'] ?? []].flat();
  const bearer = given.find((each) => /^bearer(?: |$)/i.test(each))?.slice(0, maxChars) ?? '';
  const printable = /^[\u0020-\u007e]*$/.test(bearer) ? bearer : '';
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(
    new Response(null, { status: 401, headers: { 'www-authenticate': printable } }),
  );
  return {
    metadataUrl: resourceMetadataUrl ?? null,
    scope: scope !== undefined && isScope(scope) ? scope : null,
    error: error?.slice(0, 100) ?? null,
  };
}
