export { isPublicAddress } from './addresses.ts';
export { ofNameServers } from './names.ts';
export type { Find } from './names.ts';
export { PrivateAddressError } from './connectors.ts';
export { createOutbound, isConnectFailure } from './outbound.ts';
export type { Outbound, OutboundPlace, OutboundRequest, OutboundResponse, OutboundUpgrade } from './outbound.ts';
