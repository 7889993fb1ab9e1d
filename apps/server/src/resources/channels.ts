import { approvalRoutes } from '../http/routes/channels/approvals.ts';
import { channelActRoutes } from '../http/routes/channels/acts.ts';
import { channelRoutes } from '../http/routes/channels/channels.ts';
import { consentRoutes } from '../http/routes/channels/consents.ts';
import { gmailRoutes } from '../http/routes/channels/gmail.ts';
import { messageRoutes } from '../http/routes/channels/messages.ts';
import { whatsAppRoutes } from '../http/routes/channels/whatsapp.ts';
import type { Core, Resource } from './resource.ts';

export const channels = {
  /** The engine makes them, because its own loops answer in channels. */
  open: (core: Core) => core.channels,
  routes: [channelRoutes, channelActRoutes, approvalRoutes, whatsAppRoutes, gmailRoutes, consentRoutes, messageRoutes],
} as const satisfies Resource;
