import type { GmailEndpoints } from '@lodge/channels/gmail';
import type { PlatformUrls } from './protocol.ts';

/** Where Google is, where the operator says that it is elsewhere. */
export function googleEndpoints({
  gmail,
  googleOauth,
  googleConsent,
  googlePubsub,
}: PlatformUrls): Partial<GmailEndpoints> {
  return {
    ...(gmail !== null && { api: `${gmail}/` }),
    ...(googleOauth !== null && { token: `${googleOauth}/token` }),
    ...(googleConsent !== null && { consent: `${googleConsent}/o/oauth2/v2/auth` }),
    ...(googlePubsub !== null && { pubsub: `${googlePubsub}/` }),
  };
}
