import type { GmailEndpoints } from '@lodge/channels/gmail';
import type { PlatformUrls } from './protocol.ts';

/** Google's addresses, if the operator sets others. */
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
