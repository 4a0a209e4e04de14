declare module "*?picture" {
  const picture: {
    /** `srcset` by format. */
    sources: Record<string, string>;
    /** The widest one in the last format. */
    img: { src: string; w: number; h: number };
  };
  export default picture;
}
