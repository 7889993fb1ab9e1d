export { isPublicAddress } from './addresses.ts';
export { PrivateAddressError, createOutbound, isConnectFailure } from './outbound.ts';
export type { Outbound, OutboundRequest, OutboundResponse } from './outbound.ts';
