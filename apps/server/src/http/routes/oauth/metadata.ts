/** Programs read these documents before they ask for access: who gives it (RFC 9728), and how (RFC 8414). Other hosts' pages may read it. */
import { grantTypes } from '@lodge/contract';
import { grantableScopes } from '@lodge/domain';
import type { App } from '../../app-types.ts';
import type { Reached } from '../../context.ts';

/** Path of the MCP server, whose metadata has an address of its own. */
export const mcpPath = '/v1/mcp';

/** `GET /.well-known/oauth-protected-resource`, the same for the MCP server, and `/.well-known/oauth-authorization-server`. */
export function metadataRoutes(app: App, { origin }: Reached): void {
  const serve = (url: string, document: () => object): void => {
    app.get(url, { config: { public: true }, schema: { hide: true } }, (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(document()),
    );
  };
  for (const path of ['', mcpPath]) {
    serve(`/.well-known/oauth-protected-resource${path}`, () => ({
      resource: origin() + path,
      authorization_servers: [origin()],
      scopes_supported: grantableScopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Lodge',
      resource_documentation: `${origin()}/docs/`,
    }));
  }
  serve('/.well-known/oauth-authorization-server', () => ({
    issuer: origin(),
    authorization_endpoint: `${origin()}/account/authorize`,
    token_endpoint: `${origin()}/v1/oauth/token`,
    registration_endpoint: `${origin()}/v1/oauth/register`,
    revocation_endpoint: `${origin()}/v1/oauth/revoke`,
    device_authorization_endpoint: `${origin()}/v1/oauth/device_authorization`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    scopes_supported: grantableScopes,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${origin()}/docs/`,
  }));
}

/**
 * The `WWW-Authenticate` header of a 401 at `path`, by which a program finds out how to get access (RFC 9728, section 5.1).
 * `isInvalid`: it brought a token that is not good.
 */
export function bearerChallenge(origin: string, path: typeof mcpPath, isInvalid: boolean): string {
  const error = isInvalid ? 'error="invalid_token", ' : '';
  return `Bearer ${error}resource_metadata="${origin}/.well-known/oauth-protected-resource${path}"`;
}
