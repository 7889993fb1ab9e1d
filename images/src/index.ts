export { createBrowserDiskBuilder, type BrowserDiskOptions } from './browser-disk.ts';
export { createImageBuilder, type ImageBuilderOptions } from './builder.ts';
export { ImageError } from './errors.ts';
export { tryLock } from './lock.ts';
export { hostTools, type HostTool } from './requirements.ts';
export { imageName, InstalledVersions, versionPattern, type Offer, type Verdict } from './versions/installed.ts';
export { createRuntimeVersions, whyNot } from './versions/offered.ts';
export { collectUnfinished, prepareVersion, VersionError } from './versions/prepare.ts';
export { newestFirst, releasedVersions } from './versions/registries.ts';
