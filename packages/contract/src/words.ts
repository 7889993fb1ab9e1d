/** Words of the wire that clients without the domain need: no schema comes with them. */
export {
  abilitiesOf,
  channelNames,
  channelTitles,
  defaultRuntimeKind,
  errorCodes,
  forkIncludes,
  maxForks,
  maxKeptSnapshots,
  maxPackageLength,
  maxPackages,
  maxSnapshotDays,
  maxSnapshotTurns,
  ofEachRuntime,
  packageForms,
  packageManagers,
  packagePatterns,
  runtimeKindAliases,
  runtimeKinds,
  scopeMeanings,
  scopesOfRole,
} from '@lodge/domain';
export type { ErrorCode, PackageManager, Scope } from '@lodge/domain';
