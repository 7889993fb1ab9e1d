/** Words of the wire that clients without the domain need: no schema comes with them. */
export {
  abilitiesOf,
  channelNames,
  channelTitles,
  defaultRuntimeKind,
  errorCodes,
  ofEachRuntime,
  runtimeKindAliases,
  runtimeKinds,
  scopeMeanings,
  scopesOfRole,
} from '@lodge/domain';
export type { ErrorCode, Scope } from '@lodge/domain';
