/**
 * A whole Lodge with an agent, and all that the agent speaks to outside: stubs of Telegram, WhatsApp and Google that speak
 * the real protocols, and a real MCP server that asks for OAuth. A browser of the agent's owner is signed in.
 */
import type { Browser, Page } from 'playwright-core';
import { startGoogleStub } from '@lodge/testkit/google';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import { startOAuthServer } from '../../packages/connections/src/testing/oauth-server.ts';
import { openWorld } from '../e2e/api/world.ts';
import { Client } from '../e2e/contract/states.ts';
import { ownerOf } from '../e2e/people.ts';
import { launch, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

export type OutsidePlace = Awaited<ReturnType<typeof openOutside>>;

export async function openOutside(faults: string[]) {
  await buildPages();
  const redirectUris: string[] = [];
  const googleClient = { clientId: '1234-stub.apps.googleusercontent.com', clientSecret: 'stub-secret', redirectUris };
  const [telegram, whatsapp, google] = await Promise.all([
    startTelegramStub(),
    startWhatsAppStub(),
    startGoogleStub({ client: googleClient }),
  ]);
  const tools = () => [{ name: 'hello', answer: () => ({ content: [{ type: 'text' as const, text: 'hello' }] }) }];
  const oauth = await startOAuthServer({ tools });
  const world = await openWorld({
    withGuest: true,
    relays: 'processes',
    settings: {
      LODGE_TELEGRAM_API: telegram.apiRoot,
      LODGE_WHATSAPP_URL: whatsapp.url,
      LODGE_WHATSAPP_MEDIA: whatsapp.media.url,
      LODGE_WHATSAPP_ROOT: whatsapp.root.toString('hex'),
      LODGE_GOOGLE_API: google.url,
      LODGE_GOOGLE_OAUTH: google.url,
      LODGE_GOOGLE_CONSENT: google.url,
      LODGE_GOOGLE_CLIENT_ID: googleClient.clientId,
      LODGE_GOOGLE_CLIENT_SECRET: googleClient.clientSecret,
      LODGE_CONNECTION_ADDRESSES: 'any',
    },
  });
  redirectUris.push(`${world.origin}/oauth/gmail/callback`);
  const client = new Client(world);
  const agentId = await client.agent('running', { name: 'Concierge' });
  const owner = await ownerOf(world);
  const portOf = (url: string): number => Number(new URL(url).port);
  const browser: Browser = await launch(portOf(world.origin), portOf(google.url), portOf(oauth.url));
  const open = async (): Promise<Page> => {
    const page = await openBrowser(browser, faults);
    await page.context().addCookies([{ name: 'lodge_session', value: owner.token, url: world.origin }]);
    return page;
  };
  return {
    telegram,
    whatsapp,
    google,
    oauth,
    world,
    client,
    agentId,
    owner,
    open,
    at: (tab: string): string => `${world.origin}/agents/${agentId}/${tab}`,
    async close() {
      await browser.close();
      await world.close();
      await Promise.all([telegram.close(), whatsapp.close(), google.close(), oauth.close()]);
    },
  };
}
