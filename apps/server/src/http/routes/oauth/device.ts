import {
  DecideDevice,
  DeviceAuthorization,
  DeviceAuthorizationRequest,
  DeviceQuestion,
  DeviceRequest,
  Nothing,
} from '@lodge/contract';
import type { OAuth } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { toWire } from '../../reply/to-wire.ts';
import { callerOf, signedIn, tags as areaTags } from '../account/replies.ts';
import { decided } from './consent.ts';
import { withForms } from './form.ts';
import { tags } from './tags.ts';

interface Needs {
  readonly accounts: { readonly oauth: OAuth };
  /** Where browsers reach this service. */
  readonly origin: () => string;
}

/** `POST /v1/oauth/device_authorization`, and for the person `POST /v1/account/device` and `/decision`. */
export function deviceRoutes(app: App, { accounts: { oauth }, origin }: Needs): void {
  withForms(app, (scope) => beginRoute(scope, oauth, origin));
  personRoutes(app, oauth);
}

function beginRoute(app: App, oauth: OAuth, origin: () => string): void {
  app.route({
    method: 'POST',
    url: '/v1/oauth/device_authorization',
    schema: {
      operationId: 'createDeviceAuthorization',
      tags,
      summary: 'Begin to sign a machine in',
      description:
        'For programs without a browser (RFC 8628). Show the person `user_code` and `verification_uri`, and ask the token endpoint every `interval` seconds. The person compares the codes and gives an API key with the scopes that they choose. A form or JSON.',
      body: DeviceAuthorizationRequest,
      response: { 200: { ...DeviceAuthorization, 'x-response-description': 'The codes, which are shown this once.' } },
    },
    config: { public: true, errors: ['invalid_scope'] },
    handler: async ({ body, ip }) => {
      const begun = await oauth.beginDevice({ clientName: body.client_name, scope: body.scope ?? null }, ip);
      const uri = `${origin()}/account/device`;
      return {
        device_code: begun.deviceCode,
        user_code: begun.userCode,
        verification_uri: uri,
        verification_uri_complete: `${uri}?user_code=${begun.userCode}`,
        expires_in: begun.expiresInSeconds,
        interval: begun.intervalSeconds,
      };
    },
  });
}

function personRoutes(app: App, oauth: OAuth): void {
  app.route({
    // It is no GET: a path gets into the logs of proxies.
    method: 'POST',
    url: '/v1/account/device',
    schema: {
      operationId: 'readDeviceRequest',
      tags: areaTags,
      summary: 'Read which machine waits with a code',
      body: DeviceQuestion,
      response: { 200: { ...DeviceRequest, 'x-response-description': 'Who asks for what.' } },
    },
    config: { ...signedIn, errors: ['device_code_not_found'] },
    handler: async (request) => {
      const device = await oauth.waitingDevice(request.me!, request.body.user_code, callerOf(request));
      return toWire(DeviceRequest, { ...device, scopes: device.grantable });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/device/decision',
    schema: {
      operationId: 'decideDeviceRequest',
      tags: areaTags,
      summary: 'Give a machine an API key, or refuse it',
      body: DecideDevice,
      response: { 200: { ...Nothing, 'x-response-description': 'The machine is told when it asks next.' } },
    },
    config: { ...signedIn, errors: ['device_code_not_found', 'quota_exceeded'] },
    handler: async (request) => {
      const { user_code: code, approve, scopes } = request.body;
      await oauth.decideDevice(request.me!, code, decided(approve, scopes), callerOf(request));
      return {};
    },
  });
}
