/** The path of files whose names have a hash of their content. */
export const ASSETS_PATH = "/assets/";
