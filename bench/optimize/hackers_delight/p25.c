/* The upper half of a product, from products of half words. */
unsigned p25(unsigned x, unsigned y)
{
    unsigned xl = x & 0xffff, xh = x >> 16;
    unsigned yl = y & 0xffff, yh = y >> 16;
    unsigned low = xl * yl;
    unsigned middle = xh * yl + (low >> 16);
    unsigned other = (middle & 0xffff) + xl * yh;
    return xh * yh + (middle >> 16) + (other >> 16);
}
